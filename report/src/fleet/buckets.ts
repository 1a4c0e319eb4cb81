// Time in equal parts, so many that each is wide enough to be seen and hit.
import { DAY_MS, HOUR_MS, type Job } from "./model.js";

const STEPS = [HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS, 2 * DAY_MS, 7 * DAY_MS, 28 * DAY_MS, 91 * DAY_MS, 364 * DAY_MS] as const;
const MONDAY_MS = 4 * DAY_MS; // 1970-01-05
const FAR_FUTURE_STEP = 3640 * DAY_MS;

export interface Buckets {
    /** The beginning of the first. */
    from: number;
    step: number;
    count: number;
}

export const beginOf = ({ from, step }: Buckets, index: number): number => from + index * step;

/** Which bucket a time lies in, also beyond them. */
export const indexOf = ({ from, step }: Buckets, ms: number): number => Math.floor((ms - from) / step);

/** Whole steps around [first, last]; at most `most` of them, weeks from Monday, all in UTC. */
export function bucketsOf(first: number, last: number, most: number): Buckets {
    let step: number = STEPS.find((each) => (last - first) / each < most - 1) ?? FAR_FUTURE_STEP;
    while ((last - first) / step >= most) {
        step *= 2;
    }
    const origin = step >= 7 * DAY_MS ? MONDAY_MS : 0;
    const from = Math.floor((first - origin) / step) * step + origin;
    return { from, step, count: Math.floor((last - from) / step) + 1 };
}

const NAMES: readonly [number, string][] = [
    [HOUR_MS, "hour"],
    [DAY_MS, "day"],
    [7 * DAY_MS, "week"],
];

export function stepWords(step: number): string {
    const [unit, name] = NAMES.findLast(([ms]) => step % ms === 0)!;
    const many = step / unit;
    return many === 1 ? name : `${many} ${name}s`;
}

export interface Stack {
    /** By place of the verdict in the order of the chart. */
    jobs: number[];
    gpuHours: number[];
}

export function stacksOf(buckets: Buckets, jobs: readonly Job[], placeOf: (verdict: string) => number, places: number): Stack[] {
    const empty = () => Array.from({ length: places }, () => 0);
    const stacks = Array.from({ length: buckets.count }, () => ({ jobs: empty(), gpuHours: empty() }));
    for (const { happened, verdict, gpuHours } of jobs) {
        const stack = happened === null ? undefined : stacks[indexOf(buckets, happened)];
        if (stack !== undefined) {
            const at = placeOf(verdict);
            stack.jobs[at]!++;
            stack.gpuHours[at]! += verdict === "healthy" ? 0 : (gpuHours ?? 0);
        }
    }
    return stacks;
}

/** The step of the lines behind the bars: 1, 2 or 5 times a power of ten, at most four lines. */
export function lineStep(most: number): number {
    const power = 10 ** Math.floor(Math.log10(Math.max(most, 1e-9) / 4));
    return [1, 2, 5, 10].map((each) => each * power).find((each) => most / each <= 4.5)!;
}
