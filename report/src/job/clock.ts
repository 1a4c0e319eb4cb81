// Times of the job in words. They are nanoseconds after the document's origin.
import type { Job } from "./model.js";

const NS = 1_000_000_000n;

/** "01:49:12.482113 UTC"; with the zone only where the clocks have one. */
export function clockText(job: Job, offset: number | null): string {
    const time = job.timeOf(offset);
    if (time === null) {
        return "";
    }
    const seconds = new Date(Number(time / NS) * 1000).toISOString().slice(11, 19);
    const micros = String((time % NS) / 1000n).padStart(6, "0");
    return `${seconds}.${micros}${job.document.clock_zone === false ? "" : " UTC"}`;
}

/** "01:49:12" */
export function clockShort(job: Job, offset: number | null): string {
    return clockText(job, offset).slice(0, 8);
}
