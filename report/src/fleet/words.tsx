// Times, costs and verdicts as this page writes them.
import { count } from "../shared/format.js";
import { goTo } from "../shared/place.js";
import type { Column } from "../shared/table.js";
import { choose, type View } from "./choice.js";
import type { Cost, FaultRow, Fleet, Job } from "./model.js";

export const day = (ms: number | null): string => (ms === null ? "–" : new Date(ms).toISOString().slice(0, 10));

/** "2026-11-29 01:49", UTC. */
export const moment = (ms: number | null): string => (ms === null ? "–" : new Date(ms).toISOString().slice(0, 16).replace("T", " "));

export function hours(value: number): string {
    return value >= 100 ? count(Math.round(value)) : value >= 1 ? value.toFixed(1) : value >= 0.005 ? value.toFixed(2) : "0";
}

/** "12.5", and "+ ?" where some of the jobs do not tell. */
export function costWords({ gpuHours, known, unknown }: Cost): string {
    if (known === 0) {
        return unknown === 0 ? "–" : "?";
    }
    return unknown === 0 ? hours(gpuHours) : `${hours(gpuHours)} + ?`;
}

export const share = (part: number, whole: number): string => {
    const value = whole === 0 ? 0 : (100 * part) / whole;
    return part === 0 || value >= 1 ? `${Math.round(value)} %` : "< 1 %";
};

export function toneOf(verdict: string, { judged }: { judged: boolean }): string {
    if (!judged) {
        return "warning";
    }
    return verdict === "healthy" ? "good" : verdict === "undetermined" ? "" : "error";
}

export function Verdict({ fleet, job }: { fleet: Fleet; job: Job }) {
    return (
        <span class={`chip ${toneOf(job.verdict, job)}`} title={fleet.document.topics[job.verdict]?.title}>
            <bdi>{job.verdict}</bdi>
        </span>
    );
}

/** Where in the program: "train.py evaluate ‹ train.py main". */
export function placeWords(text: string | null, most = Infinity): string | null {
    if (text === null) {
        return null;
    }
    const parts = text.split(" ‹ ");
    return parts.length > most ? `${parts.slice(0, most).join(" ‹ ")} ‹ …` : text;
}

export function New() {
    return (
        <span class="chip new" title="not seen before the last seven days, counted back from the newest job">
            new
        </span>
    );
}

export function openFault(view: View, { fingerprint }: FaultRow): void {
    choose(view, "fault", fingerprint);
    goTo("faults");
}

/** The columns in which some row has a value. */
export function withValues<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Column<Row>[] {
    return columns.filter(({ value }) => rows.some((row) => value(row) !== null));
}
