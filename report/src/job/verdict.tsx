// The top of the page: what happened, who, since when, how we know, what to do.
import { useSignal } from "@preact/signals";
import { CopyButton } from "../shared/copy.js";
import { plural, rankList, shown, span } from "../shared/format.js";
import { goTo, hrefOf } from "../shared/place.js";
import { clockShort } from "./clock.js";
import type { Culprit, Evidence, ReportDocument } from "./contract.js";
import { EvidenceLine } from "./evidence.js";
import { goToCulprit, goToRank, type MatrixState } from "./matrix/state.js";
import { stackText, whereText, type Job, type RankRow } from "./model.js";

const CONFIDENCE = { low: 1, medium: 2, high: 3 } as const;
const MOST_CULPRITS = 8;
const FEW_EVIDENCE = 4;

function Confidence({ level, doubt }: { level: keyof typeof CONFIDENCE; doubt: string | null }) {
    return (
        <span class="confidence" title={doubt === null ? undefined : doubt}>
            <svg viewBox="0 0 18 12" width="18" height="12" aria-hidden="true">
                {[1, 2, 3].map((bar) => (
                    <rect key={bar} x={(bar - 1) * 6} y={12 - bar * 4} width="4" height={bar * 4} rx="1" class={bar <= CONFIDENCE[level] ? "on" : "off"} />
                ))}
            </svg>
            {level} confidence
        </span>
    );
}

function whereOfRank(job: Job, { class: index }: RankRow): string {
    const found = job.classes[index];
    return found === undefined ? "" : whereText(found);
}

function CulpritLine({ job, state, culprit }: { job: Job; state: MatrixState; culprit: Culprit }) {
    const at = culprit.rank === null ? undefined : job.rowOfRank.get(culprit.rank);
    const row = at === undefined ? null : job.ranks[at]!;
    const call = row === null ? "" : whereOfRank(job, row);
    const device = [culprit.host, culprit.gpu === null ? null : `gpu ${culprit.gpu}`].filter(Boolean).join(" ");
    return (
        <li>
            {culprit.rank === null ? (
                <strong>{culprit.host ?? "unknown"}</strong>
            ) : (
                <button type="button" class="link" onClick={() => goToRank(state, culprit.rank!)} title="show in the matrix">
                    <strong>rank {culprit.rank}</strong>
                </button>
            )}
            <span class="chip error">{culprit.role}</span>
            {device !== "" && culprit.rank !== null && <bdi>{device}</bdi>}
            {call !== "" && <bdi class="quiet">{call}</bdi>}
            {row !== null && row.stack !== null && <bdi class="quiet mono" title={stackText(job, row.stack, 12)}>{stackText(job, row.stack)}</bdi>}
        </li>
    );
}

function Waiting({ job, document }: { job: Job; document: ReportDocument }) {
    const { operation, waiting_ranks: waiting, hang_began: began } = document.verdict.verdict;
    if (operation === null || waiting.length === 0) {
        return null;
    }
    const waits = job.ranks.filter(({ role }) => role === 2);
    const last = Math.max(...job.ranks.map(({ finished, since }) => Math.max(finished ?? -Infinity, since ?? -Infinity)));
    const first = Math.min(...waits.map(({ since }) => since ?? Infinity));
    const call = `${operation.op ?? "call"}${operation.seq === null ? "" : ` #${operation.seq}`}`;
    const direct = waits.length > 0 ? waits.map(({ rank }) => rank) : waiting;
    const elsewhere = waiting.length - direct.length;
    const stack = waits.find((rank) => rank.stack !== null)?.stack ?? null;
    return (
        <div class="fact-block">
            <h2 class="minor">Everyone else waits</h2>
            <ul class="people">
                <li>
                    <strong>
                        {plural(direct.length, "rank")}: {rankList(direct, 4)}
                    </strong>
                    <span>
                        in <bdi>{call}</bdi>
                        {operation.group !== null && (
                            <>
                                {" of "}
                                <bdi>{operation.group}</bdi>
                            </>
                        )}
                    </span>
                    {Number.isFinite(first) && began !== null && (
                        <span class="quiet">
                            since {clockShort(job, first)}
                            {last - first > 1e9 ? `, for ${span(last - first)} of the record` : ""}
                        </span>
                    )}
                    {stack !== null && <bdi class="quiet mono" title={stackText(job, stack, 12)}>{stackText(job, stack)}</bdi>}
                </li>
                {elsewhere > 0 && (
                    <li>
                        <strong>{plural(elsewhere, "rank")}</strong> {elsewhere === 1 ? "waits" : "wait"} elsewhere; that waiting ends here, too
                        <a href={hrefOf("waits")} onClick={(event) => (event.preventDefault(), goTo("waits"))}>
                            who waits for whom
                        </a>
                    </li>
                )}
            </ul>
        </div>
    );
}

function evidenceOfVerdict(document: ReportDocument): { items: readonly Evidence[]; finding: number } {
    const finding = document.verdict.findings.findIndex(({ code }) => code === document.verdict.verdict.code);
    return { finding, items: document.verdict.findings[finding]?.evidence ?? [] };
}

function Why({ job }: { job: Job }) {
    const all = useSignal(false);
    const { document } = job;
    const { items, finding } = evidenceOfVerdict(document);
    const few = all.value ? items : items.slice(0, FEW_EVIDENCE);
    if (document.why === null && items.length === 0) {
        return null;
    }
    return (
        <div class="fact-block">
            <h2 class="minor">Why</h2>
            {document.why !== null && <p>{document.why}</p>}
            <ul class="evidence">
                {few.map((item, index) => (
                    <EvidenceLine key={index} job={job} item={item} finding={finding} index={index} />
                ))}
            </ul>
            {items.length > few.length && (
                <button type="button" class="link" onClick={() => (all.value = true)}>
                    {items.length - few.length} more
                </button>
            )}
            {document.doubt !== null && document.doubt !== "" && <p class="quiet doubt">Confidence: {document.doubt}</p>}
        </div>
    );
}

function Next({ document }: { document: ReportDocument }) {
    const steps = document.verdict.next_steps;
    return steps.length === 0 ? null : (
        <div class="fact-block">
            <h2 class="minor">Next</h2>
            <ol class="next">
                {steps.map((step, index) => (
                    <li key={index}>
                        <bdi>{step}</bdi>
                    </li>
                ))}
            </ol>
        </div>
    );
}

function Unseen({ document }: { document: ReportDocument }) {
    const { ranks_with_dumps: dumps, ranks_with_logs: logs, ranks_silent: silent, world_size: world } = document.verdict.coverage;
    return (
        <p class="seen quiet">
            {world !== null && `${plural(world, "rank")} · `}
            {plural(dumps.length, "dump")} · {plural(logs.length, "log")} ·{" "}
            {silent.length === 0 ? (
                "nothing unseen"
            ) : (
                <button type="button" class="link" onClick={() => goTo("coverage")}>
                    {plural(silent.length, "rank")} unseen: {rankList(silent, 4)}
                </button>
            )}
        </p>
    );
}

function Alternatives({ document }: { document: ReportDocument }) {
    const others = document.verdict.alternatives;
    return others.length === 0 ? null : (
        <div class="fact-block">
            <h2 class="minor">Other readings</h2>
            <ul class="evidence">
                {others.map(({ code, why }, index) => (
                    <li key={index}>
                        <span class="chip">{code}</span> {why}
                    </li>
                ))}
            </ul>
        </div>
    );
}

export function Verdict({ job, state }: { job: Job; state: MatrixState }) {
    const { document } = job;
    const { verdict } = document.verdict;
    const terminal = useSignal(false);
    const all = useSignal(false);
    const good = verdict.code === "healthy";
    const culprits = all.value ? verdict.culprits : verdict.culprits.slice(0, MOST_CULPRITS);
    const title = document.topics?.[verdict.code]?.title;
    return (
        <section id="verdict" class={`verdict ${good ? "is-good" : ""}`} aria-labelledby="verdict-title" tabIndex={-1}>
            <div class="verdict-head">
                <span class={`chip ${good ? "good" : "error"}`} title={title === undefined ? undefined : title}>
                    {verdict.code}
                </span>
                {verdict.cause !== null && <span class="chip">{verdict.cause}</span>}
                <Confidence level={verdict.confidence} doubt={document.doubt} />
                {verdict.action !== "none" && <span class="quiet">action: {verdict.action}</span>}
                <span class="spring" />
                {verdict.culprits.length > 0 && (
                    <button type="button" class="button" onClick={() => goToCulprit(state)}>
                        Show the culprit
                    </button>
                )}
                <button type="button" class="button" aria-pressed={terminal.value} onClick={() => (terminal.value = !terminal.value)}>
                    As text
                </button>
                <CopyButton id="copy-verdict" text={document.text} title="Copy the verdict" />
            </div>
            <h1 id="verdict-title">
                <bdi>{verdict.summary}</bdi>
            </h1>
            <Unseen document={document} />
            {terminal.value && (
                <pre class="terminal" tabIndex={0} aria-label="As the terminal shows it">
                    {shown(document.text)}
                </pre>
            )}
            <div class="verdict-body">
                <div>
                    {verdict.culprits.length > 0 && (
                        <div class="fact-block">
                            <h2 class="minor">{verdict.culprits.length === 1 ? "Culprit" : "Culprits"}</h2>
                            <ul class="people">
                                {culprits.map((culprit, index) => (
                                    <CulpritLine key={index} job={job} state={state} culprit={culprit} />
                                ))}
                            </ul>
                            {verdict.culprits.length > culprits.length && (
                                <button type="button" class="link" onClick={() => (all.value = true)}>
                                    {verdict.culprits.length - culprits.length} more
                                </button>
                            )}
                        </div>
                    )}
                    <Waiting job={job} document={document} />
                    <Next document={document} />
                </div>
                <div>
                    <Why job={job} />
                    <Alternatives document={document} />
                </div>
            </div>
        </section>
    );
}
