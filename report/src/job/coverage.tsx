// What was read and what was not: silent ranks, what their peers prove, other attempts, files, diagnostics.
import { count, plural, rankList } from "../shared/format.js";
import { Table } from "../shared/table.js";
import { whereOf } from "./evidence.js";
import type { Job } from "./model.js";

function Silent({ job }: { job: Job }) {
    const { ranks_silent: silent, bounds, attempts } = job.document.verdict.coverage;
    return (
        <>
            <p>{silent.length === 0 ? "Every rank left a dump or a log." : `${plural(silent.length, "rank")} left neither dump nor log: ${rankList(silent, 24)}.`}</p>
            {bounds.length > 0 && (
                <details>
                    <summary>What peers prove about {plural(bounds.length, "rank and group", "ranks and groups")}</summary>
                    <Table
                        name="bounds"
                        label="bounds"
                        rows={bounds}
                        rowKey={({ rank, group }) => `${rank}-${group}`}
                        maxRows={8}
                        columns={[
                            { key: "rank", title: "rank", width: "6rem", end: true, value: ({ rank }) => rank },
                            { key: "group", title: "group", width: "minmax(10rem, 1fr)", value: ({ group }) => group },
                            { key: "entered", title: "entered call", width: "9rem", end: true, value: ({ entered }) => entered },
                            { key: "past", title: "not past call", width: "9rem", end: true, value: (bound) => bound.not_past },
                        ]}
                    />
                </details>
            )}
            {attempts.map(({ id, ranks, from, to, code }) => (
                <p key={id}>
                    Another attempt ({code}): ranks {rankList(ranks, 6)}
                    {from === null ? "" : `, ${from} to ${to ?? "?"}`}
                </p>
            ))}
        </>
    );
}

function Diagnostics({ job }: { job: Job }) {
    const { diagnostics = [], diagnostics_total: total = 0, topics } = job.document;
    if (diagnostics === null || diagnostics.length === 0) {
        return null;
    }
    const path = (source: number | null) => (source === null ? "" : (job.document.sources[source] ?? ""));
    return (
        <>
            <h3>
                {count(Math.max(total, diagnostics.length))} diagnostics{total > diagnostics.length ? `, the first ${count(diagnostics.length)} of them` : ""}
            </h3>
            <Table
                name="diagnostics"
                label="diagnostics"
                rows={diagnostics}
                rowKey={(row) => `${diagnostics.indexOf(row)}`}
                maxRows={8}
                columns={[
                    { key: "code", title: "code", width: "13rem", value: ({ code }) => code },
                    { key: "title", title: "what it is", width: "minmax(14rem, 1fr)", value: ({ code }) => topics?.[code]?.title ?? null },
                    {
                        key: "where",
                        title: "where",
                        width: "minmax(14rem, 1fr)",
                        value: ({ source, record, offset }) => whereOf({ source: path(source), record, offset, line: null, rank: null, excerpt: null }),
                        cell: ({ source, record, offset }) => <bdi>{whereOf({ source: path(source), record, offset, line: null, rank: null, excerpt: null })}</bdi>,
                    },
                    { key: "excerpt", title: "excerpt", width: "minmax(14rem, 1.5fr)", value: ({ excerpt }) => excerpt, cell: ({ excerpt }) => <bdi class="mono">{excerpt ?? ""}</bdi> },
                ]}
            />
        </>
    );
}

const LEFT_OUT: Record<string, string> = { columns: "calls", records: "exact records", ranks: "ranks", diagnostics: "diagnostics" };

export function CoverageSection({ job }: { job: Job }) {
    const { sources } = job.document.verdict.coverage;
    const left = Object.entries(job.document.left_out ?? {}).filter(([, value]) => value > 0);
    return (
        <div class="coverage">
            <Silent job={job} />
            {left.length > 0 && <p class="quiet">Left out to keep this file small: {left.map(([key, value]) => `${count(value)} ${LEFT_OUT[key] ?? key}`).join(", ")}.</p>}
            <Diagnostics job={job} />
            <h3>{plural(sources.length, "file")}</h3>
            <Table
                name="files"
                label="files"
                rows={sources}
                rowKey={({ path }) => path}
                maxRows={10}
                columns={[
                    { key: "path", title: "path", width: "minmax(16rem, 2fr)", value: ({ path }) => path, cell: ({ path }) => <bdi>{path}</bdi> },
                    { key: "format", title: "format", width: "12rem", value: ({ format }) => format },
                    { key: "records", title: "records", width: "7rem", end: true, value: ({ records }) => records, cell: ({ records }) => count(records) },
                    { key: "diagnostics", title: "diagnostics", width: "7rem", end: true, value: (source) => source.diagnostics },
                    { key: "standing", title: "standing", width: "9rem", value: ({ standing }) => standing },
                ]}
            />
        </div>
    );
}
