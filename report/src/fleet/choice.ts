// What the reader has chosen: a span of time, a verdict, a fault, somebody who is named. It is kept in the
// address; everything on the page counts what fits.
import { computed, type ReadonlySignal } from "@preact/signals";
import { note, place } from "../shared/place.js";
import { faultsOf, offendersOf, type FaultRow, type Fleet, type Job, type OffenderRow } from "./model.js";

export interface Choice {
    from: number | null;
    /** Not within any more. */
    to: number | null;
    verdict: string | null;
    fault: string | null;
    who: string | null;
}

export interface View {
    fleet: Fleet;
    choice: ReadonlySignal<Choice>;
    /** What fits but for the time. */
    ofAllTime: ReadonlySignal<readonly Job[]>;
    /** What fits. */
    jobs: ReadonlySignal<readonly Job[]>;
    /** How many of these failed. */
    failed: ReadonlySignal<number>;
    faults: ReadonlySignal<readonly FaultRow[]>;
    offenders: ReadonlySignal<readonly OffenderRow[]>;
}

/** A time in the address: to the minute, UTC. */
export const timeWord = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

function timeOf(word: string | undefined): number | null {
    const ms = word === undefined ? NaN : Date.parse(`${word}Z`);
    return Number.isFinite(ms) ? ms : null;
}

function sameChoice(a: Choice, b: Choice): boolean {
    return a.from === b.from && a.to === b.to && a.verdict === b.verdict && a.fault === b.fault && a.who === b.who;
}

export function makeView(fleet: Fleet): View {
    let before: Choice | null = null;
    const choice = computed<Choice>(() => {
        const { values } = place.value;
        const now: Choice = {
            from: timeOf(values.get("from")),
            to: timeOf(values.get("to")),
            verdict: values.get("verdict") ?? null,
            fault: values.get("fault") ?? null,
            who: values.get("who") ?? null,
        };
        before = before !== null && sameChoice(before, now) ? before : now;
        return before;
    });
    const ofAllTime = computed(() => {
        const { verdict, fault, who } = choice.value;
        if (verdict === null && fault === null && who === null) {
            return fleet.jobs;
        }
        return fleet.jobs.filter(
            (job) =>
                (verdict === null || job.verdict === verdict) &&
                (fault === null || job.fingerprint === fault) &&
                (who === null || job.named.some(({ key }) => key === who)),
        );
    });
    const jobs = computed(() => {
        const { from, to } = choice.value;
        if (from === null && to === null) {
            return ofAllTime.value;
        }
        return ofAllTime.value.filter(({ happened }) => happened !== null && happened >= (from ?? -Infinity) && happened < (to ?? Infinity));
    });
    return {
        fleet,
        choice,
        ofAllTime,
        jobs,
        failed: computed(() => jobs.value.reduce((sum, { failed }) => sum + Number(failed), 0)),
        faults: computed(() => faultsOf(fleet, jobs.value)),
        offenders: computed(() => offendersOf(jobs.value)),
    };
}

export function chooseTime(from: number | null, to: number | null): void {
    note({ from: from === null ? null : timeWord(from), to: to === null ? null : timeWord(to) });
}

/** Choosing what is chosen already takes it back. */
export function choose(view: View, key: "verdict" | "fault" | "who", value: string): void {
    note({ [key]: view.choice.peek()[key] === value ? null : value });
}

export function chooseAll(): void {
    note({ from: null, to: null, verdict: null, fault: null, who: null });
}
