// Faults by fingerprint: what came again, since when, and what it cost.
import { useMemo } from "preact/hooks";
import { CopyButton } from "../shared/copy.js";
import { count, plural, rankList } from "../shared/format.js";
import { goTo } from "../shared/place.js";
import { Table, type Column } from "../shared/table.js";
import { choose, type View } from "./choice.js";
import { faultsOf, faultTitle, offendersOf, type FaultRow } from "./model.js";
import { costWords, day, moment, New, Verdict, withValues } from "./words.js";

const MOST_HOSTS = 6;

function columnsOf(view: View): Column<FaultRow>[] {
    const all: Column<FaultRow>[] = [
        { key: "jobs", title: "jobs", width: "3.5rem", end: true, value: ({ jobs }) => jobs.length, cell: ({ jobs }) => count(jobs.length) },
        { key: "gpuh", title: "GPU-hours", width: "5.6rem", end: true, value: ({ cost }) => (cost.known === 0 ? null : cost.gpuHours), cell: ({ cost }) => costWords(cost), hint: "lost; ?: some of the jobs do not tell" },
        { key: "verdict", title: "verdict", width: "9.5rem", value: ({ example }) => example.verdict, cell: ({ example }) => <Verdict fleet={view.fleet} job={example} /> },
        { key: "cause", title: "cause", width: "6.8rem", value: ({ example }) => example.cause },
        { key: "operation", title: "operation", width: "8rem", value: ({ example }) => example.operation },
        { key: "group", title: "group", width: "4.5rem", value: ({ example }) => example.groupKind },
        { key: "place", title: "code place", width: "minmax(9rem, 2fr)", value: ({ info }) => info.place, cell: ({ info }) => <bdi class="mono" title={info.place ?? ""}>{info.place ?? "–"}</bdi> },
        { key: "new", title: "new", width: "3.2rem", value: ({ info }) => (info.isNew ? "new" : null), cell: ({ info }) => (info.isNew ? <New /> : "") },
        { key: "first", title: "first", width: "5.2rem", value: ({ first }) => first, cell: ({ first }) => day(first) },
        { key: "last", title: "last", width: "5.2rem", value: ({ last }) => last, cell: ({ last }) => day(last) },
        { key: "ranks", title: "ranks", width: "4.8rem", value: ({ ranks }) => rankList(ranks, 4) || null },
        { key: "fingerprint", title: "fingerprint", width: "9rem", value: ({ fingerprint }) => fingerprint, cell: ({ fingerprint }) => <bdi class="mono">{fingerprint}</bdi> },
    ];
    return withValues(all, faultsOf(view.fleet, view.fleet.jobs));
}

function Detail({ view, row }: { view: View; row: FaultRow }) {
    const { example, info, fingerprint, jobs, cost } = row;
    const hosts = useMemo(() => offendersOf(jobs).filter(({ who }) => who.kind === "host"), [jobs]);
    const topic = view.fleet.document.topics[example.verdict];
    return (
        <div class="card detail" id="fault" role="group" aria-label="The chosen fault">
            <div class="detail-head">
                <Verdict fleet={view.fleet} job={example} />
                <strong>
                    <bdi>{faultTitle(example)}</bdi>
                </strong>
                {info.isNew && <New />}
                <span class="spring" />
                <CopyButton text={fingerprint} title="Copy the fingerprint" />
                <button type="button" class="button" onClick={() => choose(view, "fault", fingerprint)}>
                    Close
                </button>
            </div>
            {topic !== undefined && <p class="quiet">{topic.means}</p>}
            <dl class="facts">
                <div>
                    <dt>jobs</dt>
                    <dd>
                        {count(jobs.length)}, {moment(row.first)} to {moment(row.last)}
                        {info.first !== null && info.first !== row.first ? ` (first of all ${moment(info.first)})` : ""}
                    </dd>
                </div>
                <div>
                    <dt>lost</dt>
                    <dd>
                        {costWords(cost)} GPU-hours{cost.unknown > 0 ? `; ${count(cost.unknown)} of ${plural(jobs.length, "job")} do not tell` : ""}
                    </dd>
                </div>
                {info.place !== null && (
                    <div>
                        <dt>culprit at</dt>
                        <dd class="mono">
                            <bdi>{info.place}</bdi>
                        </dd>
                    </div>
                )}
                {info.waitingPlace !== null && (
                    <div>
                        <dt>others at</dt>
                        <dd class="mono">
                            <bdi>{info.waitingPlace}</bdi>
                        </dd>
                    </div>
                )}
                {row.ranks.length > 0 && (
                    <div>
                        <dt>ranks</dt>
                        <dd>{rankList(row.ranks, 24)}</dd>
                    </div>
                )}
                {hosts.length > 0 && (
                    <div>
                        <dt>hosts, again</dt>
                        <dd class="inline">
                            {hosts.slice(0, MOST_HOSTS).map(({ who, jobs: mine }) => (
                                <button type="button" class="link" key={who.key} onClick={() => choose(view, "who", who.key)}>
                                    <bdi>{who.what}</bdi> {count(mine.length)}
                                </button>
                            ))}
                            {hosts.length > MOST_HOSTS && <span class="quiet">and {count(hosts.length - MOST_HOSTS)} more</span>}
                        </dd>
                    </div>
                )}
                <div>
                    <dt>newest job</dt>
                    <dd>
                        <button type="button" class="link" onClick={() => goTo("jobs", { job: example.name })}>
                            <bdi>{example.name}</bdi>
                        </button>
                    </dd>
                </div>
            </dl>
            {example.summary !== null && (
                <p>
                    <bdi>{example.summary}</bdi>
                </p>
            )}
        </div>
    );
}

export function Faults({ view }: { view: View }) {
    const columns = useMemo(() => columnsOf(view), [view]);
    const rows = view.faults.value;
    const { fault } = view.choice.value;
    const chosen = fault === null ? undefined : rows.find(({ fingerprint }) => fingerprint === fault);
    return (
        <>
            {chosen !== undefined && <Detail view={view} row={chosen} />}
            <Table
                name="faults"
                label="faults"
                rows={rows}
                columns={columns}
                rowKey={({ fingerprint }) => fingerprint}
                rowClass={({ fingerprint }) => (fingerprint === fault ? "is-chosen" : "")}
                onOpen={({ fingerprint }) => choose(view, "fault", fingerprint)}
                placeholder="filter: train.py   jobs>1   new:new"
                maxRows={12}
            />
        </>
    );
}

