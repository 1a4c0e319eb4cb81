// Which part of a plane is in sight. Pixels are those of CSS.

export interface View {
    /** The column and row at the left and top edge, with fractions. */
    x: number;
    y: number;
    /** Pixels of a column and of a row. */
    sx: number;
    sy: number;
}

export interface Extent {
    columns: number;
    rows: number;
    width: number;
    height: number;
}

const WIDEST_PX = 34;
const TALLEST_PX = 30;

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

/** Pixels of a column when all are in sight. */
export const leastX = ({ columns, width }: Extent): number => Math.min(WIDEST_PX, width / Math.max(1, columns));
export const leastY = ({ rows, height }: Extent): number => Math.min(TALLEST_PX, height / Math.max(1, rows));

export function kept(view: View, extent: Extent): View {
    const sx = clamp(view.sx, leastX(extent), WIDEST_PX);
    const sy = clamp(view.sy, leastY(extent), TALLEST_PX);
    return {
        sx,
        sy,
        x: clamp(view.x, 0, Math.max(0, extent.columns - extent.width / sx)),
        y: clamp(view.y, 0, Math.max(0, extent.rows - extent.height / sy)),
    };
}

export const fitting = (extent: Extent): View => kept({ x: 0, y: 0, sx: 0, sy: 0 }, extent);

/** Bigger by a factor; what is below (px, py) stays there. */
export function zoomed(view: View, extent: Extent, factor: number, px: number, py: number): View {
    const sx = clamp(view.sx * factor, leastX(extent), WIDEST_PX);
    const sy = clamp(view.sy * factor, leastY(extent), TALLEST_PX);
    return kept({ sx, sy, x: view.x + px / view.sx - px / sx, y: view.y + py / view.sy - py / sy }, extent);
}

export function moved(view: View, extent: Extent, dx: number, dy: number): View {
    return kept({ ...view, x: view.x - dx / view.sx, y: view.y - dy / view.sy }, extent);
}

/** Moved just so far that a cell is in sight, with some cells around it. */
export function revealing(view: View, extent: Extent, row: number, column: number): View {
    const across = extent.width / view.sx;
    const down = extent.height / view.sy;
    const besideX = Math.min(2, across / 4);
    const besideY = Math.min(1, down / 4);
    return kept(
        {
            ...view,
            x: clamp(view.x, column + 1 + besideX - across, column - besideX),
            y: clamp(view.y, row + 1 + besideY - down, row - besideY),
        },
        extent,
    );
}

/** A cell in the middle, large enough to show its shape. */
export function centred(view: View, extent: Extent, row: number, column: number): View {
    const sx = Math.max(view.sx, 18);
    const sy = Math.max(view.sy, 16);
    return kept({ sx, sy, x: column + 0.5 - extent.width / sx / 2, y: row + 0.5 - extent.height / sy / 2 }, extent);
}
