// What the matrix shows and where its cursor is. What a link should carry is in the address:
// m (matrix), rows, order, open, rank, call.
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { goTo, note, place } from "../../shared/place.js";
import type { Job, Matrix } from "../model.js";
import { makePlane, type Plane } from "./plane.js";
import { cellsOf, makeRows, ORDERS, type MatrixRow, type Order } from "./rows.js";

export interface Cursor {
    row: number;
    column: number;
    /** Whose call is told in detail when the row stands for several ranks; without it that of the first. */
    rank?: number;
}

export interface MatrixState {
    job: Job;
    matrix: ReadonlySignal<Matrix>;
    folded: ReadonlySignal<boolean>;
    order: ReadonlySignal<Order>;
    rows: ReadonlySignal<readonly MatrixRow[]>;
    plane: ReadonlySignal<Plane>;
    cursor: Signal<Cursor | null>;
    /** Rises when the canvas should bring the cursor to its middle. */
    centre: Signal<number>;
}

/** The matrix of the verdict's group, if there is one; else that of all calls. */
export function verdictMatrix(job: Job): number {
    for (let index = 0; index < job.matrixCount; index++) {
        const matrix = job.matrix(index);
        if (matrix.groupIndex !== null && matrix.hang !== null) {
            return index;
        }
    }
    return 0;
}

function columnOfNumber(matrix: Matrix, number: number): number | null {
    for (let column = matrix.columns - 1; column >= 0; column--) {
        if (matrix.numberOf(column) === number) {
            return column;
        }
    }
    return null;
}

export function makeMatrixState(job: Job): MatrixState {
    const first = verdictMatrix(job);
    const value = (key: string) => computed(() => place.value.values.get(key) ?? "");
    const chosen = value("m");
    const rowsChosen = value("rows");
    const orderChosen = value("order");
    const openChosen = value("open");
    const index = computed(() => {
        const wanted = chosen.value === "" ? first : Number(chosen.value);
        return Number.isInteger(wanted) && wanted >= 0 && wanted < job.matrixCount ? wanted : first;
    });
    const matrix = computed(() => job.matrix(index.value));
    const folded = computed(() => rowsChosen.value !== "ranks");
    const order = computed<Order>(() => ORDERS.find((each) => each === orderChosen.value) ?? "verdict");
    const open = computed(() => new Set(openChosen.value.split(",").filter(Boolean).map(Number)));
    const rows = computed(() => makeRows(job, matrix.value, folded.value, order.value, open.value));
    const plane = computed(() => makePlane(rows.value.map((row) => cellsOf(matrix.value, row)), matrix.value.columns));
    return { job, matrix, folded, order, rows, plane, cursor: signal(null), centre: signal(0) };
}

/** The row that shows a rank: its own, or that of its class. */
export function rowOfRank(state: MatrixState, rank: number): number {
    const { job } = state;
    const at = job.rowOfRank.get(rank);
    const rows = state.rows.peek();
    const own = rows.findIndex((row) => row.key === `r${rank}`);
    const classIndex = at === undefined ? -1 : job.ranks[at]!.class;
    return own >= 0 ? own : rows.findIndex((row) => row.class === classIndex);
}

export function pin(state: MatrixState, cursor: Cursor, centre = false): void {
    state.cursor.value = cursor;
    if (centre) {
        state.centre.value++;
    }
    const row = state.rows.peek()[cursor.row];
    const matrix = state.matrix.peek();
    if (row !== undefined) {
        const rank = cursor.rank ?? state.job.ranks[matrix.rankOf(row.members[0]!)]!.rank;
        note({ rank: `${rank}`, call: `${matrix.numberOf(cursor.column)}` });
    }
}

/** To the call that a rank stands in, or to its last one. */
export function goToRank(state: MatrixState, rank: number): void {
    const index = matrixOfRank(state, rank);
    goTo("matrix", { m: index === verdictMatrix(state.job) ? null : `${index}` });
    const row = rowOfRank(state, rank);
    const matrix = state.matrix.peek();
    if (row >= 0 && matrix.columns > 0) {
        pin(state, { row, column: matrix.hang ?? matrix.columns - 1, rank }, true);
    }
}

function matrixOfRank(state: MatrixState, rank: number): number {
    const at = state.job.rowOfRank.get(rank);
    const inMatrix = (index: number) => {
        const matrix = state.job.matrix(index);
        for (let member = 0; member < matrix.members; member++) {
            if (matrix.rankOf(member) === at) {
                return true;
            }
        }
        return false;
    };
    const wanted = verdictMatrix(state.job);
    return state.job.matrixCount === 0 || inMatrix(wanted) ? wanted : 0;
}

export function goToCulprit(state: MatrixState): void {
    const culprit = state.job.document.verdict.verdict.culprits.find(({ rank }) => rank !== null)?.rank;
    const asked = culprit ?? state.job.document.verdict.verdict.waiting_ranks[0] ?? state.job.ranks[0]?.rank;
    if (asked !== undefined) {
        goToRank(state, asked);
    }
}

export function goToHang(state: MatrixState): void {
    const here = state.matrix.peek();
    if (here.hang === null) {
        goTo("matrix", { m: null });
    } else {
        goTo("matrix");
    }
    const matrix = state.matrix.peek();
    if (matrix.columns > 0) {
        pin(state, { row: state.cursor.peek()?.row ?? 0, column: matrix.hang ?? matrix.columns - 1 }, true);
    }
}

/** Puts the cursor where the address says. */
export function takePlace(state: MatrixState): void {
    const { values } = place.peek();
    const rank = Number(values.get("rank") ?? NaN);
    const call = Number(values.get("call") ?? NaN);
    const matrix = state.matrix.peek();
    if (Number.isNaN(rank) || Number.isNaN(call) || matrix.columns === 0) {
        return;
    }
    const row = rowOfRank(state, rank);
    const column = columnOfNumber(matrix, call);
    if (row >= 0 && column !== null) {
        state.cursor.value = { row, column, rank };
        state.centre.value++;
    }
}

export function toggleClass(index: number): void {
    const open = new Set((place.peek().values.get("open") ?? "").split(",").filter(Boolean));
    if (!open.delete(`${index}`)) {
        open.add(`${index}`);
    }
    note({ open: [...open].join(",") });
}
