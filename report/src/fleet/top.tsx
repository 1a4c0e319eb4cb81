// The top of the page: what keeps failing, how much, and what is new.
import { useComputed } from "@preact/signals";
import { CopyButton } from "../shared/copy.js";
import { count, plural } from "../shared/format.js";
import { goTo, note } from "../shared/place.js";
import { chooseAll, type View } from "./choice.js";
import { costOf, faultTitle, type FaultRow, type Job } from "./model.js";
import { costWords, day, hours, moment, New, openFault, placeWords, share } from "./words.js";

const MOST_FAULTS = 5;

interface Counts {
    jobs: number;
    failed: number;
    healthy: number;
    undetermined: number;
    unjudged: number;
}

function countsOf(jobs: readonly Job[]): Counts {
    const counts = { jobs: jobs.length, failed: 0, healthy: 0, undetermined: 0, unjudged: 0 };
    for (const { failed, judged, verdict } of jobs) {
        counts.failed += Number(failed);
        counts.healthy += Number(verdict === "healthy");
        counts.undetermined += Number(verdict === "undetermined");
        counts.unjudged += Number(!judged);
    }
    return counts;
}

/** What the page says in one sentence. */
function sentenceOf({ jobs, failed }: Counts, faults: readonly FaultRow[], all: number): string {
    const top = faults[0];
    if (jobs === 0) {
        return all === 0 ? "There is no job in this fleet." : "No job fits what is chosen.";
    }
    if (failed === 0 || top === undefined) {
        return failed === 0 ? `None of ${plural(jobs, "job")} failed.` : `${count(failed)} of ${plural(jobs, "job")} failed.`;
    }
    if (top.jobs.length === 1) {
        return failed === 1 ? `1 of ${plural(jobs, "job")} failed: ${faultTitle(top.example)}.` : `${count(failed)} of ${plural(jobs, "job")} failed, and no fault came twice.`;
    }
    return `${count(failed)} of ${plural(jobs, "job")} failed; what comes most often is ${faultTitle(top.example)}: ${plural(top.jobs.length, "job")}, ${share(top.jobs.length, failed)} of them.`;
}

function textOf(view: View, sentence: string, counts: Counts, faults: readonly FaultRow[]): string {
    const cost = costOf(view.jobs.value);
    return [
        sentence,
        `${view.fleet.document.name}: ${counts.jobs} jobs, ${counts.failed} failed, ${counts.healthy} healthy, ${counts.undetermined} undetermined, ${counts.unjudged} not judged`,
        `GPU-hours lost: ${costWords(cost)} (${cost.unknown} of ${cost.known + cost.unknown} jobs do not tell)`,
        ...faults.slice(0, MOST_FAULTS).map((row) => `${`${row.jobs.length}`.padStart(6)}  ${row.fingerprint}  ${row.info.sketch ?? faultTitle(row.example)}${row.info.isNew ? "  (new)" : ""}`),
        "",
    ].join("\n");
}

const CHOSEN = { verdict: "verdict", fault: "fault", who: "named" } as const;

/** What is chosen, each to be taken back. It stays in sight. */
export function Chosen({ view }: { view: View }) {
    const choice = view.choice.value;
    const when = choice.from === null && choice.to === null ? null : `${moment(choice.from)} to ${moment(choice.to)}`;
    const keys = (Object.keys(CHOSEN) as (keyof typeof CHOSEN)[]).filter((key) => choice[key] !== null);
    if (when === null && keys.length === 0) {
        return null;
    }
    return (
        <div class="chosen" role="group" aria-label="Chosen">
            <strong>
                {count(view.jobs.value.length)} of {plural(view.fleet.jobs.length, "job")}
            </strong>
            {when !== null && (
                <button type="button" class="chip" onClick={() => note({ from: null, to: null, close: null })} title="take back">
                    {when} <span aria-hidden="true">×</span>
                </button>
            )}
            {keys.map((key) => (
                <button type="button" class="chip" key={key} onClick={() => note({ [key]: null })} title="take back">
                    {CHOSEN[key]}: <bdi>{choice[key]}</bdi> <span aria-hidden="true">×</span>
                </button>
            ))}
            <button type="button" class="link" onClick={chooseAll}>
                all jobs (x)
            </button>
        </div>
    );
}

function Tile({ value, title, hint, onClick }: { value: string; title: string; hint?: string; onClick?: () => void }) {
    return (
        <div class="tile" title={hint}>
            <dt>{title}</dt>
            <dd>
                {onClick === undefined ? (
                    value
                ) : (
                    <button type="button" class="link" onClick={onClick}>
                        {value}
                    </button>
                )}
            </dd>
        </div>
    );
}

function Frequent({ view, row, most }: { view: View; row: FaultRow; most: number }) {
    const where = placeWords(row.info.place, 2);
    return (
        <li class="frequent">
            <span class="frequent-count">{count(row.jobs.length)}</span>
            <span class="frequent-bar" aria-hidden="true">
                <i style={{ width: `${(100 * row.jobs.length) / most}%` }} />
            </span>
            <span class="frequent-what">
                <button type="button" class="link" aria-pressed={view.choice.value.fault === row.fingerprint} onClick={() => openFault(view, row)}>
                    <bdi>{faultTitle(row.example)}</bdi>
                </button>
                {row.info.isNew && <New />}
                {where !== null && <bdi class="quiet mono">{where}</bdi>}
            </span>
            <span class="quiet frequent-cost">{row.cost.known === 0 ? "" : `${costWords(row.cost)} GPU-h`}</span>
        </li>
    );
}

export function Top({ view }: { view: View }) {
    const counts = useComputed(() => countsOf(view.jobs.value));
    const cost = useComputed(() => costOf(view.jobs.value));
    const faults = view.faults.value;
    const fresh = faults.filter(({ info }) => info.isNew).length;
    const recurring = faults.filter(({ jobs }) => jobs.length > 1).length;
    const told = cost.value.known + cost.value.unknown;
    const sentence = sentenceOf(counts.value, faults, view.fleet.jobs.length);
    const { fleet } = view;
    const { jobs, failed, healthy, undetermined, unjudged } = counts.value;
    return (
        <>
            <section id="summary" class={`card summary ${failed === 0 ? "is-good" : ""}`} aria-labelledby="summary-title" tabIndex={-1}>
                <div class="summary-head">
                    <strong>
                        <bdi>{fleet.document.name}</bdi>
                    </strong>
                    <span class="quiet">
                        {fleet.first === null ? "" : `${day(fleet.first)} to ${day(fleet.newest)}`}
                        {fleet.leftOut > 0 ? `, the newest ${count(fleet.jobs.length)} of ${count(fleet.jobs.length + fleet.leftOut)} jobs` : ""}
                    </span>
                    <span class="spring" />
                    <CopyButton id="copy-summary" text={textOf(view, sentence, counts.value, faults)} title="Copy the summary" />
                </div>
                <h1 id="summary-title">
                    <bdi>{sentence}</bdi>
                </h1>
                <dl class="tiles">
                    <Tile title="jobs" value={count(jobs)} />
                    <Tile title="failed" value={jobs === 0 ? "0" : `${count(failed)}`} hint={share(failed, jobs)} />
                    <Tile title="healthy" value={count(healthy)} onClick={() => (note({ verdict: "healthy" }), goTo("jobs"))} />
                    <Tile title="undetermined" value={count(undetermined)} onClick={() => (note({ verdict: "undetermined" }), goTo("jobs"))} />
                    <Tile title="not judged" value={count(unjudged)} onClick={() => goTo("coverage")} />
                    <Tile
                        title={`GPU-hours lost${cost.value.unknown > 0 ? `, ${share(cost.value.unknown, told)} unknown` : ""}`}
                        value={told > 0 && cost.value.known === 0 ? "?" : hours(cost.value.gpuHours)}
                        hint={`from when the hang began to the last sign of the job, of every GPU; ${count(cost.value.unknown)} of ${count(told)} jobs that are not healthy do not tell`}
                    />
                    <Tile title={`faults, ${count(recurring)} of them recurring`} value={count(faults.length)} onClick={() => goTo("faults")} />
                    <Tile
                        title="new since last week"
                        value={count(fresh)}
                        hint={fleet.newest === null ? "" : `not seen before ${day(fleet.newest - 7 * 86_400_000)}: the seven days before the newest job`}
                        onClick={() => goTo("faults", { "faults.filter": "new:new" })}
                    />
                </dl>
                {faults.length > 0 && (
                    <>
                        <h2 class="minor">What keeps failing</h2>
                        <ol class="frequents">
                            {faults.slice(0, MOST_FAULTS).map((row) => (
                                <Frequent key={row.fingerprint} view={view} row={row} most={faults[0]!.jobs.length} />
                            ))}
                        </ol>
                    </>
                )}
            </section>
            <Chosen view={view} />
        </>
    );
}
