// The report of one job.
import { useEffect, useMemo } from "preact/hooks";
import { plural } from "../shared/format.js";
import { Frame } from "../shared/frame.js";
import type { Key } from "../shared/keys.js";
import type { SectionEntry } from "../shared/section.js";
import { start } from "../shared/start.js";
import { Arrival } from "./arrival.js";
import type { ReportDocument } from "./contract.js";
import { CoverageSection } from "./coverage.js";
import { Environment } from "./environment.js";
import { findersOf } from "./finders.js";
import { Findings } from "./findings.js";
import { MatrixSection } from "./matrix/section.js";
import { goToCulprit, goToHang, makeMatrixState, type MatrixState } from "./matrix/state.js";
import { makeJob, type Job } from "./model.js";
import { networksOf } from "./networks.js";
import { Ranks } from "./ranks.js";
import { Stacks, stacksOf } from "./stacks.js";
import { Topology } from "./topology.js";
import { Verdict } from "./verdict.js";
import { Waits } from "./waits.js";
import "../shared/theme.css";
import "./job.css";

const KEYS_HINT = "In the matrix: arrows move, + and − zoom, 0 shows all, Enter pins the call. In tables: arrows, Page Up and Down, Home, End; Enter opens a row.";

function sectionsOf(job: Job, state: MatrixState): SectionEntry[] {
    const { document } = job;
    const { findings, coverage } = document.verdict;
    const differing = document.environment?.filter(({ differs }) => differs).length ?? 0;
    const folded = document.classes.length < job.ranks.length ? `, ${plural(document.classes.length, "kind")} of them` : "";
    const entries: (SectionEntry | false)[] = [
        job.matrixCount > 0 && { id: "matrix", title: "Calls", aside: "ranks by sequence number", body: () => <MatrixSection state={state} /> },
        (document.waits?.roots.length ?? 0) + (document.waits?.edges.length ?? 0) > 0 && {
            id: "waits",
            title: "Waiting",
            aside: "who waits for whom, and where it ends",
            body: () => <Waits job={job} state={state} />,
        },
        { id: "ranks", title: "Ranks", aside: `${plural(job.ranks.length, "rank")}${folded}`, body: () => <Ranks job={job} state={state} /> },
        (document.arrival?.rows ?? []).some(({ max_late_ns: most }) => most > 0) && { id: "arrival", title: "Arrival", aside: "who came last, and by how much", body: () => <Arrival job={job} state={state} /> },
        stacksOf(job).length > 0 && { id: "stacks", title: "Stacks", aside: "where they stand in the program", body: () => <Stacks job={job} /> },
        ((document.topology?.communicators.length ?? 0) > 0 || networksOf(document).length > 0) && {
            id: "topology",
            title: "Topology",
            aside: "networks of hosts, rings and transports of communicators",
            body: () => <Topology job={job} />,
        },
        (document.environment?.length ?? 0) > 0 && {
            id: "environment",
            title: "Environment",
            aside: differing === 0 ? "the same everywhere" : `${plural(differing, "name")} with differing values`,
            body: () => <Environment job={job} />,
        },
        findings.length > 0 && { id: "findings", title: "Findings", aside: plural(findings.length, "finding"), body: () => <Findings job={job} /> },
        { id: "coverage", title: "Coverage", aside: plural(coverage.sources.length, "file"), body: () => <CoverageSection job={job} /> },
    ];
    return entries.filter((entry) => entry !== false);
}

function JobPage({ job }: { job: Job }) {
    const state = useMemo(() => makeMatrixState(job), [job]);
    const sections = useMemo(() => sectionsOf(job, state), [job, state]);
    const finders = useMemo(() => findersOf(job, state), [job, state]);
    const keys = useMemo<Key[]>(
        () => [
            { key: "c", title: "the culprit", run: () => goToCulprit(state) },
            { key: "h", title: "the column of the hang", run: () => goToHang(state) },
            { key: "y", title: "copy the verdict", run: () => document.getElementById("copy-verdict")?.click() },
        ],
        [state],
    );
    const { code } = job.document.verdict.verdict;
    useEffect(() => {
        document.documentElement.lang = job.document.language;
    }, [job]);
    return (
        <Frame title={`${code} · hangscope`} tool={job.document.tool} sections={sections} keys={keys} keysHint={KEYS_HINT} finders={finders} searchHint="Search rank, host, function …">
            <Verdict job={job} state={state} />
        </Frame>
    );
}

void start<ReportDocument>((payload) => <JobPage job={makeJob(payload)} />);
