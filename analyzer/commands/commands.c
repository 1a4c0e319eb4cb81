/* commands.c - the table of commands. The words are fixed; a row comes when its work is done. */
#include "analyzer/commands/command.h"

const struct hs_command hs_commands[] = {
    { "analyze", "PATH...", "name the stuck rank, the operation and the proof", "jdpPFwimRrxf",
      "Reads what a job left behind - flight-recorder dumps of all ranks or of some, in folders,\n"
      "files and archives - and prints one verdict.\n"
      "\n"
      "Examples:\n"
      "  hangscope analyze /tmp/job-4711              a folder of dumps\n"
      "  hangscope dumps.tar.gz                       'analyze' can be left out\n"
      "  hangscope analyze --json node*/ | jq .verdict\n"
      "  tar c dumps | hangscope analyze -            an archive on standard input\n"
      "  hangscope analyze --rank-map ranks.txt dumps lines of: rank host [gpu]\n"
      "  hangscope analyze --fail-on high dumps       exit 1 only for what is certain\n"
      "  hangscope analyze --db job.db dumps          keep the job as a database, too\n"
      "  hangscope analyze job.db                     the same verdict, from the database\n"
      "  hangscope analyze --report job.html dumps    the job as a page, too\n"
      "\n"
      "Exit status: 0 healthy, 1 a fault was found, 3 undetermined, 2 wrong usage, 4 hangscope\n"
      "itself failed.\n",
      hs_run_analyze },
    { "ingest", "PATH... -o FILE", "keep a job, or a node's part of it, as a database", "oFwimRr",
      "Writes facts, derived tables, findings and verdict into one SQLite file. Parts of a job "
      "that\n"
      "were ingested where they lay are put together with 'merge'.\n"
      "\n"
      "Examples:\n"
      "  hangscope ingest dumps -o job.db\n"
      "  hangscope ingest /tmp/nccl_trace_rank_* -o $(hostname).db\n"
      "  ssh node7 hangscope ingest dumps -o - > node7.db\n",
      hs_run_ingest },
    { "merge", "FILE... -o FILE", "put the databases of one job, or several fleets, together",
      "oFwmR",
      "What was derived is derived again from all facts; the same part twice counts once. Of a "
      "job\n"
      "that is in several fleets the verdict given last counts.\n"
      "\n"
      "Examples:\n"
      "  hangscope merge node*.db -o job.db\n"
      "  hangscope merge shard-*.db -o fleet.db\n",
      hs_run_merge },
    { "batch", "ROOT... -o FLEET.db", "judge every job of an archive of them", "oFP12345678Rf",
      "Finds the jobs below ROOT, a folder or an archive each, judges every one in a process of "
      "its\n"
      "own with limits of time and memory, and keeps the verdicts in one file (docs/fleet.md). "
      "Run\n"
      "again, it goes on where it was interrupted and judges only what is new or has changed.\n"
      "\n"
      "Examples:\n"
      "  hangscope batch /archive -o fleet.db\n"
      "  hangscope batch /archive -o fleet.db --job-glob '*/job-*' --keep db,report\n"
      "  hangscope batch /archive -o fleet.db --jsonl | jq -r 'select(.code == "
      "\"gpu-fault\").hosts'\n"
      "  hangscope batch /archive -o $SLURM_ARRAY_TASK_ID.db --shard $SLURM_ARRAY_TASK_ID/64\n"
      "  hangscope sql fleet.db 'SELECT * FROM recurring'\n"
      "\n"
      "Exit status: 0 done; with --fail-on 1 if a job has such a verdict; 2 wrong usage, 4 "
      "hangscope\n"
      "itself failed. Jobs that cannot be judged are named and change nothing.\n",
      hs_run_batch },
    { "fleet", "export|report FLEET.db", "a fleet as rows, or as a page to look into", "oFP9",
      "export writes one row for each job, ordered by path: the columns of the view 'jobs'. "
      "report\n"
      "writes one HTML file that needs no network: what keeps failing, since when, where, what is\n"
      "new, and every job, with links to the reports that were kept beside the fleet.\n"
      "\n"
      "Examples:\n"
      "  hangscope fleet report fleet.db -o fleet.html\n"
      "  hangscope fleet export fleet.db --format csv -o fleet.csv\n"
      "  hangscope fleet export fleet.db --format jsonl | jq -c '{name, code, place}'\n",
      hs_run_fleet },
    { "sql", "FILE [QUERY]", "ask a database", "sS",
      "Runs SELECTs, read-only; without QUERY they are read from --file or standard input. Tables "
      "and\n"
      "views: docs/schema.md. Try the views: calls, frontiers, waits, mismatches, straggler, "
      "coverage,\n"
      "stacks, proof.\n"
      "\n"
      "Examples:\n"
      "  hangscope sql job.db 'SELECT * FROM waits'\n"
      "  hangscope sql job.db 'SELECT * FROM straggler' --format csv > late.csv\n"
      "  hangscope sql job.db --file questions.sql\n",
      hs_run_sql },
    { "report", "PATH... -o FILE.html", "the job as a page to look into and to send", "oFPwimRrK",
      "Writes one HTML file that opens in any browser without a network: the verdict with its "
      "proof,\n"
      "who did what in every group, who waits for whom, who came late. Calls of the verdict's "
      "ranks\n"
      "and of one rank of each kind are in it exactly, or those of --ranks.\n"
      "\n"
      "Examples:\n"
      "  hangscope report dumps -o job.html\n"
      "  hangscope report job.db -o job.html --ranks 0-7,512\n"
      "  hangscope report logs dumps -o - | ssh www 'cat > public/job.html'\n",
      hs_run_report },
    { "plan", "PATH... -o FILE", "a job as programs that can run again", "oFwiRrWKGMNY",
      "Writes who called what, in which order, and where each rank stood: a text file that can be\n"
      "read and changed (docs/formats/plan.md). From dumps; where there are none, from the lines "
      "in\n"
      "which NCCL tells its calls (NCCL_DEBUG_SUBSYS=COLL or CALL).\n"
      "\n"
      "Examples:\n"
      "  hangscope plan dumps -o plan.json\n"
      "  hangscope plan logs -o plan.json\n"
      "  hangscope plan dumps -o small.json --minimize\n"
      "  hangscope plan job.db -o stage.json --ranks 0-7 --window 16\n",
      hs_run_plan },
    { "replay", "PLAN | PATH...", "run a job again: by the rules alone, or on GPUs",
      "jwimRxfrWKGMNYEbTACHL",
      "Runs the calls of a plan or of a job by the rules of the library, without hardware, and "
      "judges\n"
      "where the ranks end up. A send counts as a rendezvous: the worst case. With --backend nccl "
      "they\n"
      "run on the GPUs of this machine, a process for each rank (hangscope-replay).\n"
      "\n"
      "Examples:\n"
      "  hangscope replay dumps\n"
      "  hangscope replay --json plan.json\n"
      "  hangscope replay plan.json --backend nccl --fold 8 --deadline 20\n"
      "  hangscope replay dumps --what-if 'rank 3: drop default_pg#41'\n"
      "  hangscope replay dumps --what-if 'rank 3: move dp#7 after tp#12'\n"
      "  hangscope replay dumps --what-if 'rank 1: insert ALLREDUCE in dp before #9 like rank 0'\n"
      "\n"
      "Exit status: as of 'analyze'; 4 also when nothing can run on this machine.\n",
      hs_run_replay },
    { "emit", "torch|c PLAN | PATH... -o FILE", "a program that hangs the same way",
      "oFwiRrWKGMNYB",
      "Writes a stand-alone program that makes the calls of a plan or of a job: a PyTorch script, "
      "or\n"
      "C with NCCL alone. What it reproduces and how to run it stands at its head.\n"
      "\n"
      "Examples:\n"
      "  hangscope emit torch dumps --minimize -o repro.py\n"
      "  hangscope emit c plan.json -o repro.c\n",
      hs_run_emit },
    { "timeline", "PATH... -o FILE", "the calls of all ranks in time, for Perfetto", "oFwimRrKVt",
      "Writes a trace that ui.perfetto.dev and chrome://tracing open: a process for each rank, a "
      "track\n"
      "for each of its groups, a slice for each recorded call. A FILE.gz is packed.\n"
      "\n"
      "Examples:\n"
      "  hangscope timeline dumps -o trace.json.gz\n"
      "  hangscope timeline job.db -o trace.pftrace --format perfetto\n"
      "  hangscope timeline dumps -o rank3.json --ranks 3    as HTA wants it\n"
      "  hangscope timeline dumps -o last.json --window 30s\n"
      "  hangscope timeline dumps -o some.json --window '#900..#950'\n",
      hs_run_timeline },
    { "formats", "[PATH...]", "list the formats, or say why a file was taken for what it is", "ji",
      "Without a path: the formats that are read. With paths: for every file the bids of all\n"
      "formats in bits verified, the winner, its records and its diagnostics.\n"
      "\n"
      "Examples:\n"
      "  hangscope formats\n"
      "  hangscope formats dumps/rank_3\n"
      "  hangscope formats --json dumps.tar.gz\n",
      hs_run_formats },
    { "explain", "CODE | --list", "a page about a code, a cause, a finding or a diagnostic", "jl",
      "Examples:\n"
      "  hangscope explain rank-missing\n"
      "  hangscope explain recorder-off\n"
      "  hangscope explain --list\n",
      hs_run_explain },
    { "completion", "bash|zsh|fish", "a completion script for a shell", "",
      "Examples:\n"
      "  hangscope completion bash > /etc/bash_completion.d/hangscope\n"
      "  hangscope completion fish > ~/.config/fish/completions/hangscope.fish\n",
      hs_run_completion },
    { "help", "[COMMAND]", "this overview, or the long help of a command", "",
      "Examples:\n"
      "  hangscope help analyze\n",
      hs_run_help },
    { NULL, NULL, NULL, NULL, NULL, NULL },
};

const struct hs_command *hs_command_find(const char *name)
{
    for (const struct hs_command *c = hs_commands; c->name; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}
