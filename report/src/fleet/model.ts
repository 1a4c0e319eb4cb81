// The fleet as the page works with it: rows of jobs, the faults that they share, and who is named by them.
import type { FleetDocument } from "./contract.js";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const NEW_WITHIN_MS = 7 * DAY_MS;
const NOT_FAILED = new Set(["healthy", "undetermined"]);

export interface Job {
    row: number;
    path: string;
    name: string;
    /** The code of the verdict; without one the state of the job: crashed, timeout … */
    verdict: string;
    judged: boolean;
    failed: boolean;
    state: string;
    cause: string | null;
    confidence: string | null;
    action: string | null;
    summary: string | null;
    operation: string | null;
    groupKind: string | null;
    fingerprint: string | null;
    happened: number | null;
    happenedFrom: string | null;
    worldSize: number | null;
    /** Null: not known, or nothing lost. */
    gpuHours: number | null;
    exit: number | null;
    signal: number | null;
    limit: string | null;
    tries: number | null;
    trouble: string | null;
    keptDb: string | null;
    keptReport: string | null;
    ranks: readonly number[];
    rankCount: number;
    named: Named[];
}

export interface Named {
    /** "host:node-a": its name in the address. */
    key: string;
    kind: string;
    what: string;
}

export interface FaultInfo {
    sketch: string | null;
    place: string | null;
    waitingPlace: string | null;
    /** When it was first seen in all of the fleet. */
    first: number | null;
    isNew: boolean;
}

export interface Fleet {
    document: FleetDocument;
    jobs: readonly Job[];
    faults: ReadonlyMap<string, FaultInfo>;
    /** The least and the greatest time of a job. */
    first: number | null;
    newest: number | null;
    /** Jobs of the file that this page does not show. */
    leftOut: number;
}

function ranksOf(text: string | null): number[] {
    return text === null || text === "" ? [] : text.split(" ").map(Number).filter(Number.isFinite);
}

function makeJobs({ jobs }: FleetDocument): Job[] {
    return jobs.path.map((path, row) => {
        const code = jobs.code[row] ?? null;
        const state = jobs.state[row] ?? "unknown";
        const [idle, gpus] = [jobs.idle_ms[row] ?? null, jobs.gpus[row] ?? null];
        return {
            row,
            path: path ?? "",
            name: jobs.name[row] || path || "",
            verdict: code ?? state,
            judged: state === "judged",
            failed: code !== null && !NOT_FAILED.has(code),
            state,
            cause: jobs.cause[row] ?? null,
            confidence: jobs.confidence[row] ?? null,
            action: jobs.action[row] ?? null,
            summary: jobs.summary[row] ?? null,
            operation: jobs.operation[row] ?? null,
            groupKind: jobs.group_kind[row] ?? null,
            fingerprint: jobs.fingerprint[row] ?? null,
            happened: jobs.happened_ms[row] ?? null,
            happenedFrom: jobs.happened_from[row] ?? null,
            worldSize: jobs.world_size[row] ?? null,
            gpuHours: idle === null || gpus === null ? null : (idle * gpus) / HOUR_MS,
            exit: jobs.exit[row] ?? null,
            signal: jobs.signal[row] ?? null,
            limit: jobs.limit[row] ?? null,
            tries: jobs.tries[row] ?? null,
            trouble: jobs.trouble[row] ?? null,
            keptDb: jobs.kept_db[row] ?? null,
            keptReport: jobs.kept_report[row] ?? null,
            ranks: ranksOf(jobs.ranks[row] ?? null),
            rankCount: jobs.rank_count[row] ?? 0,
            named: [],
        };
    });
}

function nameThem({ jobs, named }: FleetDocument, all: readonly Job[]): void {
    const rowOf = new Map(jobs.id.map((id, row) => [id, row]));
    const known = new Map<string | null, Map<string | null, Named>>();
    for (let at = 0; at < named.job.length; at++) {
        const job = all[rowOf.get(named.job[at] ?? null) ?? -1];
        const [kind, what] = [named.kind[at] ?? "", named.what[at] ?? ""];
        let ofKind = known.get(kind);
        if (ofKind === undefined) {
            known.set(kind, (ofKind = new Map()));
        }
        let who = ofKind.get(what);
        if (who === undefined) {
            ofKind.set(what, (who = { key: `${kind}:${what}`, kind, what }));
        }
        job?.named.push(who);
    }
}

function makeFaults({ faults }: FleetDocument, jobs: readonly Job[], newest: number | null): Map<string, FaultInfo> {
    const first = new Map<string, number>();
    for (const { fingerprint, happened } of jobs) {
        if (fingerprint !== null && happened !== null) {
            first.set(fingerprint, Math.min(first.get(fingerprint) ?? Infinity, happened));
        }
    }
    const found = new Map<string, FaultInfo>();
    for (const [at, fingerprint] of faults.fingerprint.entries()) {
        const began = first.get(fingerprint ?? "") ?? null;
        found.set(fingerprint ?? "", {
            sketch: faults.sketch[at] ?? null,
            place: faults.place[at] ?? null,
            waitingPlace: faults.waiting_place[at] ?? null,
            first: began,
            isNew: began !== null && newest !== null && began > newest - NEW_WITHIN_MS,
        });
    }
    return found;
}

export function makeFleet(document: FleetDocument): Fleet {
    const jobs = makeJobs(document);
    nameThem(document, jobs);
    let [first, newest] = [Infinity, -Infinity];
    for (const { happened } of jobs) {
        if (happened !== null) {
            first = Math.min(first, happened);
            newest = Math.max(newest, happened);
        }
    }
    const has = Number.isFinite(first);
    return {
        document,
        jobs,
        faults: makeFaults(document, jobs, has ? newest : null),
        first: has ? first : null,
        newest: has ? newest : null,
        leftOut: Math.max(0, (document.fleet.jobs[0] ?? 0) - jobs.length),
    };
}

/** What was lost as far as jobs tell, and how many of them do not. */
export interface Cost {
    gpuHours: number;
    known: number;
    unknown: number;
}

/** Of the jobs that are not healthy. */
export function costOf(jobs: readonly Job[]): Cost {
    const cost = { gpuHours: 0, known: 0, unknown: 0 };
    for (const { verdict, judged, gpuHours } of jobs) {
        if (!judged || verdict === "healthy") {
            continue;
        }
        if (gpuHours === null) {
            cost.unknown++;
        } else {
            cost.known++;
            cost.gpuHours += gpuHours;
        }
    }
    return cost;
}

export interface FaultRow {
    fingerprint: string;
    /** The newest of its jobs: what they have in common stands in each. */
    example: Job;
    info: FaultInfo;
    jobs: readonly Job[];
    first: number | null;
    last: number | null;
    cost: Cost;
    ranks: readonly number[];
}

function spanOf(jobs: readonly Job[]): { first: number | null; last: number | null } {
    let [first, last] = [Infinity, -Infinity];
    for (const { happened } of jobs) {
        if (happened !== null) {
            first = Math.min(first, happened);
            last = Math.max(last, happened);
        }
    }
    return Number.isFinite(first) ? { first, last } : { first: null, last: null };
}

function groupBy(jobs: readonly Job[], keysOf: (job: Job) => Iterable<string>): Map<string, Job[]> {
    const groups = new Map<string, Job[]>();
    for (const job of jobs) {
        for (const key of keysOf(job)) {
            const group = groups.get(key);
            if (group === undefined) {
                groups.set(key, [job]);
            } else {
                group.push(job);
            }
        }
    }
    return groups;
}

const UNKNOWN_FAULT: FaultInfo = { sketch: null, place: null, waitingPlace: null, first: null, isNew: false };

/** The faults of these jobs, the most frequent first. */
export function faultsOf(fleet: Fleet, jobs: readonly Job[]): FaultRow[] {
    const groups = groupBy(jobs, ({ fingerprint }) => (fingerprint === null ? [] : [fingerprint]));
    const rows = [...groups].map(([fingerprint, mine]) => ({
        fingerprint,
        example: mine[0]!,
        info: fleet.faults.get(fingerprint) ?? UNKNOWN_FAULT,
        jobs: mine,
        ...spanOf(mine),
        cost: costOf(mine),
        ranks: [...new Set(mine.flatMap(({ ranks }) => ranks))].sort((a, b) => a - b),
    }));
    return rows.sort((a, b) => b.jobs.length - a.jobs.length || (b.last ?? 0) - (a.last ?? 0) || (a.fingerprint < b.fingerprint ? -1 : 1));
}

export interface OffenderRow {
    who: Named;
    jobs: readonly Job[];
    faults: number;
    codes: string;
    first: number | null;
    last: number | null;
}

/** Who is named by more than one of these jobs. */
export function offendersOf(jobs: readonly Job[]): OffenderRow[] {
    const known = new Map<string, Named>();
    const groups = groupBy(jobs, ({ named }) => named.map((who) => (known.set(who.key, who), who.key)));
    const rows: OffenderRow[] = [];
    for (const [key, mine] of groups) {
        if (mine.length > 1) {
            const faults = new Set(mine.map(({ fingerprint }) => fingerprint).filter((each) => each !== null));
            const codes = [...new Set(mine.map(({ verdict }) => verdict))].sort().join(", ");
            rows.push({ who: known.get(key)!, jobs: mine, faults: faults.size, codes, ...spanOf(mine) });
        }
    }
    return rows.sort((a, b) => b.jobs.length - a.jobs.length || (a.who.key < b.who.key ? -1 : 1));
}

/** Verdicts by how many of the jobs have them. */
export function verdictsOf(jobs: readonly Job[]): [verdict: string, jobs: number][] {
    const counts = new Map<string, number>();
    for (const { verdict } of jobs) {
        counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** The fault in words: "rank-missing in ALLREDUCE of world". */
export function faultTitle({ verdict, cause, operation, groupKind }: Job): string {
    const parts = [verdict];
    if (cause !== null) {
        parts.push(`(${cause})`);
    }
    if (operation !== null) {
        parts.push(`in ${operation}`);
    }
    if (groupKind !== null) {
        parts.push(`of ${groupKind}`);
    }
    return parts.join(" ");
}
