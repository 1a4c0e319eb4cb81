// Hosts, GPUs and places in the code that verdicts name again and again.
import { useMemo } from "preact/hooks";
import { count } from "../shared/format.js";
import { Table, type Column } from "../shared/table.js";
import { choose, type View } from "./choice.js";
import type { OffenderRow } from "./model.js";
import { day, share } from "./words.js";

function columnsOf(view: View): Column<OffenderRow>[] {
    return [
        { key: "kind", title: "kind", width: "5rem", value: ({ who }) => who.kind },
        { key: "who", title: "named", width: "minmax(14rem, 2fr)", value: ({ who }) => who.what, cell: ({ who }) => <bdi class="mono">{who.what}</bdi> },
        { key: "jobs", title: "jobs", width: "4.5rem", end: true, value: ({ jobs }) => jobs.length, cell: ({ jobs }) => count(jobs.length) },
        { key: "share", title: "of failed", width: "5.5rem", end: true, value: ({ jobs }) => jobs.length, cell: ({ jobs }) => share(jobs.length, view.failed.value) },
        { key: "faults", title: "faults", width: "4.5rem", end: true, value: ({ faults }) => faults, hint: "different fingerprints: many on one host point at the host" },
        { key: "codes", title: "verdicts", width: "minmax(12rem, 1.5fr)", value: ({ codes }) => codes },
        { key: "first", title: "first", width: "6.5rem", value: ({ first }) => first, cell: ({ first }) => day(first) },
        { key: "last", title: "last", width: "6.5rem", value: ({ last }) => last, cell: ({ last }) => day(last) },
    ];
}

export function Offenders({ view }: { view: View }) {
    const columns = useMemo(() => columnsOf(view), [view]);
    const rows = view.offenders.value;
    const { who } = view.choice.value;
    if (rows.length === 0) {
        return <p class="quiet">No host, GPU or place in the code is named by more than one of these jobs.</p>;
    }
    return (
        <Table
            name="offenders"
            label="offenders"
            rows={rows}
            columns={columns}
            rowKey={(row) => row.who.key}
            rowClass={(row) => (row.who.key === who ? "is-chosen" : "")}
            onOpen={(row) => choose(view, "who", row.who.key)}
            placeholder="filter: kind:host   faults>1"
            maxRows={10}
        />
    );
}
