// What this page does not know: jobs that could not be judged, each by its name; times and costs that are open.
import { useMemo } from "preact/hooks";
import { count, plural } from "../shared/format.js";
import { goTo } from "../shared/place.js";
import { Table, type Column } from "../shared/table.js";
import type { View } from "./choice.js";
import { costOf, type Job } from "./model.js";
import { hours, Verdict } from "./words.js";

function columnsOf(view: View): Column<Job>[] {
    return [
        { key: "name", title: "job", width: "minmax(12rem, 1.5fr)", value: ({ name }) => name, cell: ({ name }) => <bdi>{name}</bdi> },
        { key: "state", title: "state", width: "8rem", value: ({ state }) => state, cell: (job) => <Verdict fleet={view.fleet} job={job} /> },
        { key: "signal", title: "signal", width: "4.5rem", end: true, value: ({ signal }) => signal },
        { key: "exit", title: "exit", width: "4rem", end: true, value: ({ exit }) => exit },
        { key: "limit", title: "limit", width: "5rem", value: ({ limit }) => limit },
        { key: "tries", title: "tries", width: "4rem", end: true, value: ({ tries }) => tries },
        { key: "trouble", title: "why", width: "minmax(16rem, 2fr)", value: ({ trouble }) => trouble, cell: ({ trouble }) => <bdi title={trouble ?? ""}>{trouble ?? "–"}</bdi> },
    ];
}

function Times({ jobs }: { jobs: readonly Job[] }) {
    const by = (from: string | null) => jobs.filter(({ happenedFrom }) => happenedFrom === from).length;
    return (
        <p>
            Times: of {plural(by("hang"), "job")} when the hang began, of {count(by("last"))} the last time that they tell, of {count(by("files"))} when the newest file was written, of{" "}
            {count(jobs.filter(({ happened }) => happened === null).length)} none.
        </p>
    );
}

export function Coverage({ view }: { view: View }) {
    const columns = useMemo(() => columnsOf(view), [view]);
    const jobs = view.jobs.value;
    const rows = useMemo(() => jobs.filter(({ judged }) => !judged), [jobs]);
    const cost = costOf(jobs);
    const { leftOut } = view.fleet;
    return (
        <div class="coverage">
            <p>{rows.length === 0 ? "Every job was judged." : `${plural(rows.length, "job")} could not be judged:`}</p>
            {rows.length > 0 && (
                <Table
                    name="unjudged"
                    label="jobs not judged"
                    rows={rows}
                    columns={columns}
                    rowKey={({ row }) => `${row}`}
                    onOpen={({ name }) => goTo("jobs", { job: name })}
                    placeholder="filter: state:crashed"
                    maxRows={10}
                />
            )}
            <Times jobs={jobs} />
            <p>
                GPU-hours: {hours(cost.gpuHours)} of {plural(cost.known, "job")} that {cost.known === 1 ? "tells" : "tell"} when the hang began and when the job last gave a sign; {count(cost.unknown)} that{" "}
                {cost.unknown === 1 ? "is" : "are"} not healthy {cost.unknown === 1 ? "does" : "do"} not tell.
            </p>
            {leftOut > 0 && <p>Left out to keep this file small: {plural(leftOut, "older job")}. They are in the database.</p>}
        </div>
    );
}
