// A cell is one byte: the state in the low half, the step of lateness in the high half.

export const STATES = [
    { name: "none", title: "no call", token: "surface" },
    { name: "completed", title: "completed", token: "late-0" },
    { name: "started", title: "started", token: "started" },
    { name: "scheduled", title: "scheduled", token: "scheduled" },
    { name: "made", title: "made, state unknown", token: "made" },
    { name: "missing", title: "not made", token: "missing" },
    { name: "mismatch", title: "another call", token: "mismatch" },
    { name: "hung", title: "hung", token: "hung" },
    { name: "passed", title: "made, overwritten since", token: "passed" },
    { name: "unknown", title: "unknown", token: "surface" },
] as const;

export type StateName = (typeof STATES)[number]["name"];

export const STEPS = ["< 10 ms", "≥ 10 ms", "≥ 100 ms", "≥ 1 s", "≥ 10 s", "≥ 60 s"] as const;

/** From harmless to what has to be seen at any zoom: few ranks are missing, many wait for them. */
const BY_SEVERITY: readonly StateName[] = ["none", "completed", "passed", "unknown", "made", "started", "scheduled", "hung", "mismatch", "missing"];

export const stateOf = (cell: number): number => ((cell & 15) < STATES.length ? cell & 15 : 9);
export const stepOf = (cell: number): number => Math.min(cell >> 4, STEPS.length - 1);
export const stateName = (cell: number): StateName => STATES[stateOf(cell)]!.name;

/** Cells as numbers that grow with severity, so that the worst of many is their maximum; and back. */
export const severityOfCell = new Uint8Array(256);
export const cellOfSeverity = new Uint8Array(256);

for (let cell = 0; cell < 256; cell++) {
    const severity = BY_SEVERITY.indexOf(stateName(cell)) * STEPS.length + stepOf(cell);
    severityOfCell[cell] = severity;
    cellOfSeverity[severity] = stateOf(cell) | (stepOf(cell) << 4);
}

/** The token of theme.css that a cell is painted in. */
export function tokenOf(cell: number): string {
    return stateName(cell) === "completed" ? `late-${stepOf(cell)}` : STATES[stateOf(cell)]!.token;
}
