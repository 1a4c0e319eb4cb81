/* derive_identity.c - who spoke, as rows: for rules to ask, and for the database. */
#include "analyzer/telling.h"

static bool put_processes(const struct hs_identity *id, struct hs_derived *out)
{
    out->processes = HS_NEW(&out->arena, struct hs_process_row, id->process_count);
    for (uint32_t i = 0; out->processes && i < id->process_count; i++) {
        const struct hs_process *p = &id->processes[i];

        out->processes[out->process_count++] = (struct hs_process_row){
            .attempt = p->attempt,
            .rank = p->rank,
            .how = hs_known_word((enum hs_known)p->known),
            .host = p->host == HS_NO_ID ? (struct hs_str){ .p = NULL }
                                        : hs_arena_copy(&out->arena, id->hosts[p->host]),
            .pid = p->pid,
            .local_rank = p->local_rank,
            .lines = p->lines,
            .source = p->source,
            .line = p->source == HS_NO_ID ? 0 : p->line,
        };
    }
    return out->processes != NULL;
}

/* The run in which a speaker begins: its voices belong to this one and those behind it. */
static uint32_t first_run_of(const struct hs_identity *id, const struct hs_speaker *speaker)
{
    uint32_t run = id->first_run[speaker->source], end = id->first_run[speaker->source + 1];

    while (run + 1 < end && id->runs[run + 1].first_line <= speaker->first_line)
        run++;
    return run;
}

static bool put_voices(const struct hs_identity *id, struct hs_derived *out)
{
    const struct hs_job *job = id->job;

    out->voices = HS_NEW(&out->arena, struct hs_voice_row, id->first_voice[job->speaker_count]);
    for (uint32_t s = 0; out->voices && s < job->speaker_count; s++) {
        uint32_t run = first_run_of(id, &job->speakers[s]);

        for (uint32_t v = id->first_voice[s]; v < id->first_voice[s + 1]; v++, run++)
            out->voices[out->voice_count++] =
                (struct hs_voice_row){ .speaker = s,
                                       .first_line = id->runs[run].first_line,
                                       .attempt = id->runs[run].attempt,
                                       .process = id->voices[v].process };
    }
    return out->voices != NULL;
}

static bool put_heard(const struct hs_identity *id, struct hs_derived *out)
{
    out->heard = HS_NEW(&out->arena, struct hs_heard_row, id->job->event_count);
    for (uint32_t i = 0; out->heard && i < id->job->event_count; i++)
        out->heard[out->heard_count++] = (struct hs_heard_row){ id->process_of_event[i] };
    return out->heard != NULL;
}

bool hs_derive_identity(const struct hs_identity *identity, struct hs_derived *out)
{
    *out = (struct hs_derived){ .group_count = 0 };
    hs_arena_init(&out->arena);
    return put_processes(identity, out) && put_voices(identity, out) && put_heard(identity, out);
}
