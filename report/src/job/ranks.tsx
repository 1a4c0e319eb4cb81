// Every rank: where it stands, since when, with how much left; sorted, filtered, opened in the matrix.
import { useMemo } from "preact/hooks";
import { count, span } from "../shared/format.js";
import { Table, type Column } from "../shared/table.js";
import { clockText } from "./clock.js";
import { STATES } from "./matrix/cell.js";
import { StateIcon } from "./matrix/icon.js";
import { goToRank, type MatrixState } from "./matrix/state.js";
import { callText, ROLES, stackText, type Job, type RankRow } from "./model.js";

const MAY_HIDE = ["host", "gpu", "role", "call", "state", "stack", "since", "late", "last", "pending", "calls"];
const FLAGS = [
    [4, "dump cut short"],
    [8, "earlier dump"],
    [16, "completions unseen"],
    [32, "oldest call overwritten"],
] as const;

export function flagText(flags: number): string {
    const has = flags & 1 ? (flags & 2 ? "dump, log" : "dump") : flags & 2 ? "log" : "nothing";
    return [has, ...FLAGS.filter(([bit]) => flags & bit).map(([, title]) => title)].join(", ");
}

export function standsIn(job: Job, row: RankRow): string {
    const signature = row.signature === null ? null : job.document.signatures[row.signature]!;
    const group = row.group === null ? null : job.document.groups[row.group]!.label;
    return signature === null && row.group === null ? "" : callText(signature, row.seq, group);
}

function columnsOf(job: Job): Column<RankRow>[] {
    return [
        { key: "rank", title: "rank", width: "4.5rem", end: true, value: ({ rank }) => rank },
        { key: "host", title: "host", width: "minmax(7rem, 12rem)", value: ({ host }) => host, cell: ({ host }) => <bdi>{host ?? "–"}</bdi> },
        { key: "gpu", title: "gpu", width: "3rem", end: true, value: ({ gpu }) => gpu },
        {
            key: "role",
            title: "role",
            width: "7.5rem",
            value: ({ role }) => ROLES[role] ?? null,
            cell: ({ role }) => (role === 1 ? <span class="chip error">culprit</span> : ROLES[role]),
        },
        {
            key: "call",
            title: "stands in",
            width: "minmax(19rem, 1.4fr)",
            value: (row) => standsIn(job, row),
            cell: (row) => <bdi>{standsIn(job, row)}</bdi>,
        },
        {
            key: "state",
            title: "state",
            width: "9rem",
            value: ({ state }) => (state === 0 ? null : STATES[state]!.title),
            cell: ({ state }) =>
                state === 0 ? (
                    <span class="quiet">–</span>
                ) : (
                    <span class="with-icon">
                        <StateIcon state={state} /> {STATES[state]!.title}
                    </span>
                ),
        },
        {
            key: "stack",
            title: "program",
            width: "minmax(19rem, 2fr)",
            value: ({ stack }) => stackText(job, stack),
            cell: ({ stack }) => <bdi class="mono">{stackText(job, stack)}</bdi>,
        },
        { key: "since", title: "since", width: "11.5rem", value: ({ since }) => since, cell: ({ since }) => clockText(job, since) },
        { key: "late", title: "mean late", width: "6.5rem", end: true, value: ({ late }) => late, cell: ({ late }) => (late === null ? <span class="quiet">–</span> : span(late)) },
        { key: "last", title: "came last", width: "6rem", end: true, value: ({ last }) => last },
        { key: "pending", title: "pending", width: "5rem", end: true, value: ({ pending }) => pending },
        { key: "calls", title: "calls", width: "5rem", end: true, value: ({ calls }) => calls, cell: ({ calls }) => (calls === null ? "–" : count(calls)) },
        { key: "seen", title: "seen by", width: "minmax(7rem, 1fr)", value: ({ flags }) => flagText(flags) },
    ];
}

export function Ranks({ job, state }: { job: Job; state: MatrixState }) {
    const inOrder = useMemo(() => [...job.ranks].sort((a, b) => Number(b.role === 1) - Number(a.role === 1) || a.rank - b.rank), [job]);
    const columns = useMemo(() => columnsOf(job), [job]);
    return (
        <Table
            name="ranks"
            label="ranks"
            rows={inOrder}
            columns={columns}
            mayHide={MAY_HIDE}
            rowKey={({ rank }) => `${rank}`}
            rowClass={({ role }) => (role === 1 ? "is-culprit" : "")}
            onOpen={({ rank }) => goToRank(state, rank)}
            placeholder="filter: node-a   role:culprit   pending>0"
        />
    );
}
