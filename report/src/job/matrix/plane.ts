// What the canvas draws: rows of severities, and coarser rows for when many fall on one pixel.

const FOLD = 4;
const COARSEST_ROWS = 64;

export interface Plane {
    columns: number;
    rows: number;
    /** Level n has the worst of 4^n rows in each. Equal rows may be the same array. */
    levels: readonly (readonly Uint8Array[])[];
    /** The worst of each column. */
    overview: Uint8Array;
}

function worstInto(target: Uint8Array, source: Uint8Array, first: number): void {
    for (let column = 0; column < target.length; column++) {
        const value = source[first + column]!;
        if (value > target[column]!) {
            target[column] = value;
        }
    }
}

/** The worst of rows, column by column. */
export function worstRow(rows: Iterable<Uint8Array>, columns: number): Uint8Array {
    const worst = new Uint8Array(columns);
    let before: Uint8Array | null = null;
    for (const row of rows) {
        if (row !== before) {
            worstInto(worst, row, 0);
        }
        before = row;
    }
    return worst;
}

function coarser(rows: readonly Uint8Array[], columns: number): Uint8Array[] {
    return Array.from({ length: Math.ceil(rows.length / FOLD) }, (_, at) => {
        const four = rows.slice(at * FOLD, (at + 1) * FOLD);
        return four.every((row) => row === four[0]) ? four[0]! : worstRow(four, columns);
    });
}

export function makePlane(rows: readonly Uint8Array[], columns: number): Plane {
    const levels: (readonly Uint8Array[])[] = [rows];
    while (levels.at(-1)!.length > COARSEST_ROWS) {
        levels.push(coarser(levels.at(-1)!, columns));
    }
    return { columns, rows: rows.length, levels, overview: worstRow(levels.at(-1)!, columns) };
}

/** The worst of the rows [from, to) for the columns [first, first + line.length). */
export function worstOfRows(plane: Plane, from: number, to: number, first: number, line: Uint8Array): void {
    let level = 0;
    let scale = 1;
    while (level + 1 < plane.levels.length && to - from >= scale * FOLD) {
        level++;
        scale *= FOLD;
    }
    const rows = plane.levels[level]!;
    const start = Math.floor(from / scale);
    const end = Math.min(rows.length, Math.max(start + 1, Math.ceil(to / scale)));
    line.fill(0);
    let before: Uint8Array | null = null;
    for (let at = start; at < end; at++) {
        const row = rows[at]!;
        if (row !== before) {
            worstInto(line, row, first);
        }
        before = row;
    }
}

export function severityAt(plane: Plane, row: number, column: number): number {
    return plane.levels[0]![row]?.[column] ?? 0;
}
