// Who came last, how often and by how much; against how well the clocks are known.
import { useMemo } from "preact/hooks";
import { count, percent, plural, span } from "../shared/format.js";
import { Table, type Column } from "../shared/table.js";
import type { ArrivalRow, Clock } from "./contract.js";
import { goToRank, type MatrixState } from "./matrix/state.js";
import type { Job } from "./model.js";

const shareOf = ({ last, of }: ArrivalRow): number => last / Math.max(1, of);

const clockName = ({ host, rank }: Clock): string => host ?? (rank === null ? "" : `rank ${rank}`);

function columnsOf(job: Job): Column<ArrivalRow>[] {
    const rank = (row: ArrivalRow) => job.ranks[row.rank]!;
    return [
        { key: "rank", title: "rank", width: "5rem", end: true, value: (row) => rank(row).rank },
        { key: "host", title: "host", width: "minmax(7rem, 1fr)", value: (row) => rank(row).host },
        { key: "group", title: "group", width: "minmax(8rem, 1fr)", value: ({ group }) => job.document.groups[group]!.label },
        {
            key: "share",
            title: "came last in",
            width: "15rem",
            value: shareOf,
            cell: ({ last, of }) => (
                <span class="share">
                    <svg width="72" height="8" aria-hidden="true">
                        <rect class="share-all" width="72" height="8" rx="2" />
                        <rect class="share-part" width={Math.max(1, (last / of) * 72)} height="8" rx="2" />
                        <line x1={0.2 * 72} x2={0.2 * 72} y1="0" y2="8" />
                    </svg>
                    {percent(last / of)} <span class="quiet">{count(last)} of {count(of)}</span>
                </span>
            ),
        },
        { key: "median", title: "median late", width: "7rem", end: true, value: (row) => row.median_late_ns, cell: (row) => span(row.median_late_ns) },
        { key: "most", title: "most late", width: "7rem", end: true, value: (row) => row.max_late_ns, cell: (row) => span(row.max_late_ns) },
        {
            key: "bound",
            title: "clock bound",
            width: "7rem",
            end: true,
            hint: "how far the clocks of the ranks may be apart",
            value: (row) => row.bound_ns,
            cell: (row) => (row.bound_ns === null ? <span class="quiet">unknown</span> : `± ${span(row.bound_ns)}`),
        },
        {
            key: "habit",
            title: "",
            width: "6rem",
            value: ({ habitual }) => (habitual ? "habitual" : null),
            cell: ({ habitual }) => (habitual ? <span class="chip warning">habitual</span> : ""),
        },
    ];
}

function Clocks({ clocks }: { clocks: readonly Clock[] }) {
    const off = clocks.filter(({ offset_ns: offset }) => Math.abs(offset) > 1e6).length;
    return (
        <details class="clocks">
            <summary>
                {plural(clocks.length, "clock")} compared{off > 0 ? `, ${off} off by more than 1 ms` : ""}
            </summary>
            <Table
                name="clocks"
                label="clocks"
                rows={clocks}
                rowKey={clockName}
                maxRows={8}
                columns={[
                    { key: "host", title: "clock of", width: "minmax(10rem, 1fr)", value: clockName },
                    { key: "offset", title: "offset", width: "8rem", end: true, value: (clock) => clock.offset_ns, cell: (clock) => span(clock.offset_ns) },
                    { key: "bound", title: "bound", width: "8rem", end: true, value: (clock) => clock.bound_ns, cell: (clock) => (clock.bound_ns === null ? "unknown" : `± ${span(clock.bound_ns)}`) },
                    { key: "ties", title: "ties", width: "6rem", end: true, value: ({ ties }) => ties },
                    { key: "note", title: "", width: "9rem", value: ({ reference, contradicted }) => (contradicted ? "contradicted" : reference ? "reference" : "") },
                ]}
            />
        </details>
    );
}

export function Arrival({ job, state }: { job: Job; state: MatrixState }) {
    const arrival = job.document.arrival!;
    const columns = useMemo(() => columnsOf(job), [job]);
    const rows = useMemo(() => arrival.rows.filter(({ max_late_ns: most }) => most > 0), [arrival]);
    return (
        <>
            <p class="quiet">
                {plural(arrival.compared, "collective")} that all members have on record. A rank is habitual when it came last in at least 20 % of its group's collectives and its median lateness exceeds
                the clock bound.
            </p>
            <Table
                name="arrival"
                label="arrival"
                rows={rows}
                columns={columns}
                mayHide={rows.some((row) => row.bound_ns !== null) ? ["host", "habit"] : ["host", "bound", "habit"]}
                rowKey={({ group, rank }) => `${group}-${rank}`}
                rowClass={({ habitual }) => (habitual ? "is-habitual" : "")}
                onOpen={(row) => goToRank(state, job.ranks[row.rank]!.rank)}
                maxRows={10}
            />
            {arrival.clocks.length > 0 && <Clocks clocks={arrival.clocks} />}
        </>
    );
}
