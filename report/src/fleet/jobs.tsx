// All jobs, and one of them in more words.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { CopyButton } from "../shared/copy.js";
import { count, rankList } from "../shared/format.js";
import { goTo, note, valueOf } from "../shared/place.js";
import { Table, type Column } from "../shared/table.js";
import { choose, type View } from "./choice.js";
import type { Fleet, Job } from "./model.js";
import { hours, moment, Verdict, withValues } from "./words.js";

const FROM: Record<string, string> = { hang: "when the hang began", last: "the last time that the job tells", files: "when its newest file was written" };

/** The address of what was kept beside the fleet; null when it is not a path below that. */
export function keptHref({ document }: Fleet, kept: string | null): string | null {
    if (kept === null || kept === "" || kept.startsWith("/") || kept.split("/").includes("..")) {
        return null;
    }
    const path = `${document.way}${kept}`.split("/").map(encodeURIComponent).join("/");
    return `./${path}`;
}

function KeptReport({ fleet, job }: { fleet: Fleet; job: Job }) {
    const href = keptHref(fleet, job.keptReport);
    return href === null ? null : (
        <a href={href} onClick={(event) => event.stopPropagation()}>
            report
        </a>
    );
}

const hostsOf = ({ named }: Job): string | null => named.filter(({ kind }) => kind === "host").map(({ what }) => what).join(", ") || null;

function columnsOf(fleet: Fleet): Column<Job>[] {
    const all: Column<Job>[] = [
        { key: "name", title: "job", width: "minmax(9rem, 2fr)", value: ({ name }) => name, cell: ({ name }) => <bdi>{name}</bdi> },
        { key: "report", title: "kept", width: "3.5rem", value: ({ keptReport }) => (keptReport === null ? null : "report"), cell: (job) => <KeptReport fleet={fleet} job={job} /> },
        { key: "happened", title: "happened", width: "8rem", value: ({ happened }) => happened, cell: ({ happened }) => moment(happened) },
        { key: "verdict", title: "verdict", width: "9.5rem", value: ({ verdict }) => verdict, cell: (job) => <Verdict fleet={fleet} job={job} /> },
        { key: "cause", title: "cause", width: "6.8rem", value: ({ cause }) => cause },
        { key: "operation", title: "operation", width: "8rem", value: ({ operation }) => operation },
        { key: "group", title: "group", width: "4.5rem", value: ({ groupKind }) => groupKind },
        { key: "ranks", title: "ranks", width: "4.5rem", value: ({ ranks, rankCount }) => (ranks.length === 0 ? null : rankList(ranks, 3) + (rankCount > ranks.length ? " …" : "")) },
        { key: "hosts", title: "hosts", width: "minmax(8rem, 1fr)", value: hostsOf, cell: (job) => <bdi>{hostsOf(job) ?? "–"}</bdi> },
        { key: "size", title: "world", width: "3.5rem", end: true, value: ({ worldSize }) => worldSize, cell: ({ worldSize }) => (worldSize === null ? "–" : count(worldSize)) },
        { key: "gpuh", title: "GPU-hours", width: "5.2rem", end: true, value: ({ gpuHours }) => gpuHours, cell: ({ gpuHours }) => (gpuHours === null ? "–" : hours(gpuHours)) },
        { key: "confidence", title: "confidence", width: "5.5rem", value: ({ confidence }) => confidence },
        { key: "fingerprint", title: "fingerprint", width: "9rem", value: ({ fingerprint }) => fingerprint, cell: ({ fingerprint }) => <bdi class="mono">{fingerprint ?? ""}</bdi> },
    ];
    return withValues(all, fleet.jobs);
}

function Fact({ title, children, mono }: { title: string; children: ComponentChildren; mono?: boolean }) {
    return (
        <div>
            <dt>{title}</dt>
            <dd class={mono === true ? "mono" : ""}>{children}</dd>
        </div>
    );
}

function JobCard({ view, job }: { view: View; job: Job }) {
    const { fleet } = view;
    const href = keptHref(fleet, job.keptReport);
    const { fingerprint } = job;
    const ended = [job.exit === null ? null : `exit ${job.exit}`, job.signal === null ? null : `signal ${job.signal}`, job.limit === null ? null : `limit: ${job.limit}`].filter((each) => each !== null);
    return (
        <div class="card detail" id="job" role="group" aria-label="The chosen job">
            <div class="detail-head">
                <Verdict fleet={fleet} job={job} />
                {job.cause !== null && <span class="chip"><bdi>{job.cause}</bdi></span>}
                <strong>
                    <bdi>{job.name}</bdi>
                </strong>
                <span class="spring" />
                {href !== null && (
                    <a class="button" href={href}>
                        Open its report
                    </a>
                )}
                <CopyButton text={`hangscope report '${job.path.replaceAll("'", "'\\''")}' -o job.html`} title="Copy a command for its report" />
                <button type="button" class="button" onClick={() => note({ job: null })}>
                    Close
                </button>
            </div>
            {(job.summary ?? job.trouble) !== null && (
                <p>
                    <bdi>{job.summary ?? job.trouble}</bdi>
                </p>
            )}
            <dl class="facts">
                <Fact title="happened">
                    {moment(job.happened)} {job.happenedFrom !== null && <span class="quiet">{FROM[job.happenedFrom] ?? job.happenedFrom}</span>}
                </Fact>
                {job.confidence !== null && <Fact title="confidence">{job.confidence}</Fact>}
                {job.action !== null && job.action !== "none" && <Fact title="action">{job.action}</Fact>}
                {job.ranks.length > 0 && (
                    <Fact title="ranks">
                        {rankList(job.ranks, 24)}
                        {job.rankCount > job.ranks.length ? ` and ${count(job.rankCount - job.ranks.length)} more` : ""}
                    </Fact>
                )}
                {job.named.length > 0 && (
                    <Fact title="named">
                        <span class="inline">
                            {job.named.slice(0, 12).map((who) => (
                                <button type="button" class="link" key={who.key} onClick={() => choose(view, "who", who.key)}>
                                    <bdi>{who.what}</bdi>
                                </button>
                            ))}
                            {job.named.length > 12 && <span class="quiet">and {count(job.named.length - 12)} more</span>}
                        </span>
                    </Fact>
                )}
                {job.gpuHours !== null && <Fact title="lost">{hours(job.gpuHours)} GPU-hours</Fact>}
                {fingerprint !== null && (
                    <Fact title="fault" mono>
                        <button type="button" class="link mono" onClick={() => (choose(view, "fault", fingerprint), goTo("faults"))}>
                            {fingerprint}
                        </button>
                    </Fact>
                )}
                {ended.length > 0 && <Fact title="ended">{ended.join(", ")}</Fact>}
                <Fact title="path" mono>
                    <bdi>{job.path}</bdi>
                </Fact>
                {job.keptDb !== null && (
                    <Fact title="database" mono>
                        <bdi>{job.keptDb}</bdi>
                    </Fact>
                )}
            </dl>
        </div>
    );
}

export function Jobs({ view }: { view: View }) {
    const { fleet } = view;
    const columns = useMemo(() => columnsOf(fleet), [fleet]);
    const byName = useMemo(() => new Map(fleet.jobs.map((job) => [job.name, job])), [fleet]);
    const chosen = byName.get(valueOf("job"));
    return (
        <>
            {chosen !== undefined && <JobCard view={view} job={chosen} />}
            <Table
                name="jobs"
                label="jobs"
                rows={view.jobs.value}
                columns={columns}
                rowKey={({ row }) => `${row}`}
                rowClass={(job) => (job === chosen ? "is-chosen" : "")}
                onOpen={({ name }) => note({ job: name })}
                placeholder="filter: node-a   verdict:rank-missing   gpuh>10"
                maxRows={18}
            />
        </>
    );
}
