// Paints cells with their shapes, where there is room for them, and the strip of the whole record.
import { colour } from "../../shared/theme.js";
import { cellOfSeverity, stateName, tokenOf, type StateName } from "./cell.js";
import { severityAt, type Plane } from "./plane.js";
import type { View } from "./view.js";

const SHAPE_WIDTH_PX = 7;
const SHAPE_HEIGHT_PX = 8;

export interface Paint {
    /** By severity: for the canvas, and as bytes in memory. */
    styles: string[];
    pixels: Uint32Array;
    token: (name: string) => string;
}

function pixelOf(style: string, context: CanvasRenderingContext2D): number {
    context.fillStyle = style;
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(String(context.fillStyle).slice(at, at + 2), 16)) as [number, number, number];
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

export function makePaint(context: CanvasRenderingContext2D): Paint {
    const known = new Map<string, string>();
    const token = (name: string) => {
        if (!known.has(name)) {
            known.set(name, colour(name));
        }
        return known.get(name)!;
    };
    const styles = Array.from({ length: 256 }, (_, severity) => {
        const cell = cellOfSeverity[severity]!;
        return token(tokenOf(cell));
    });
    const pixels = Uint32Array.from(styles, (style) => pixelOf(style, context));
    return { styles, pixels, token };
}

type Shape = (context: CanvasRenderingContext2D, x: number, y: number, size: number) => void;

function cross(context: CanvasRenderingContext2D, x: number, y: number, size: number): void {
    context.beginPath();
    context.moveTo(x - size, y - size);
    context.lineTo(x + size, y + size);
    context.moveTo(x + size, y - size);
    context.lineTo(x - size, y + size);
    context.stroke();
}

/** What tells states apart without colour. */
export const SHAPES: Partial<Record<StateName, Shape>> = {
    missing: cross,
    mismatch(context, x, y, size) {
        context.beginPath();
        context.moveTo(x, y - size - 1);
        context.lineTo(x + size + 1, y);
        context.lineTo(x, y + size + 1);
        context.lineTo(x - size - 1, y);
        context.closePath();
        context.fill();
    },
    hung(context, x, y, size) {
        const bar = Math.max(1.5, size * 0.6);
        context.fillRect(x - size, y - size, bar, 2 * size);
        context.fillRect(x + size - bar, y - size, bar, 2 * size);
    },
    scheduled(context, x, y, size) {
        context.beginPath();
        context.arc(x, y, size * 0.85, 0, 2 * Math.PI);
        context.stroke();
    },
    started(context, x, y, size) {
        context.beginPath();
        context.moveTo(x - size * 0.7, y - size);
        context.lineTo(x + size, y);
        context.lineTo(x - size * 0.7, y + size);
        context.closePath();
        context.fill();
    },
    made(context, x, y, size) {
        context.beginPath();
        context.arc(x, y, size * 0.6, 0, 2 * Math.PI);
        context.fill();
    },
    passed(context, x, y, size) {
        context.beginPath();
        context.moveTo(x - size, y + size);
        context.lineTo(x + size, y - size);
        context.stroke();
    },
    unknown(context, x, y, size) {
        context.setLineDash([1.5, 2]);
        context.strokeRect(x - size - 1, y - size - 1, 2 * size + 2, 2 * size + 2);
        context.setLineDash([]);
    },
};

const GLYPHS: Partial<Record<StateName, string>> = { made: "glyph-inverse", started: "glyph-inverse", passed: "line-strong", unknown: "quiet" };

export function hasShapes(view: View): boolean {
    return view.sx >= SHAPE_WIDTH_PX && view.sy >= SHAPE_HEIGHT_PX;
}

/** One cell with its shape, its corner at (x, y). */
export function drawCell(context: CanvasRenderingContext2D, paint: Paint, severity: number, x: number, y: number, width: number, height: number): void {
    const name = stateName(cellOfSeverity[severity]!);
    if (name === "none") {
        return;
    }
    context.fillStyle = paint.styles[severity]!;
    context.fillRect(x, y, width, height);
    const shape = SHAPES[name];
    if (shape !== undefined) {
        context.fillStyle = context.strokeStyle = paint.token(GLYPHS[name] ?? "glyph");
        context.lineWidth = Math.min(2, Math.max(1.2, width / 7));
        shape(context, x + width / 2, y + height / 2, Math.max(1.5, Math.min(width, height) * 0.26));
    }
}

export function drawCells(context: CanvasRenderingContext2D, plane: Plane, view: View, paint: Paint, width: number, height: number): void {
    const lastColumn = Math.min(plane.columns, Math.ceil(view.x + width / view.sx));
    const lastRow = Math.min(plane.rows, Math.ceil(view.y + height / view.sy));
    for (let row = Math.floor(view.y); row < lastRow; row++) {
        const y = (row - view.y) * view.sy;
        for (let column = Math.floor(view.x); column < lastColumn; column++) {
            const x = (column - view.x) * view.sx;
            drawCell(context, paint, severityAt(plane, row, column), x, y, view.sx - 1, view.sy - 1);
        }
    }
}

/** The whole width of a plane in a strip, and the part in sight. */
export function drawOverview(context: CanvasRenderingContext2D, plane: Plane, paint: Paint, width: number, height: number): void {
    const perPixel = plane.columns / width;
    for (let x = 0; x < width; x++) {
        const first = Math.min(plane.columns - 1, Math.floor(x * perPixel));
        const end = Math.max(first + 1, Math.floor((x + 1) * perPixel));
        let worst = 0;
        for (let column = first; column < end && column < plane.columns; column++) {
            worst = Math.max(worst, plane.overview[column]!);
        }
        context.fillStyle = paint.styles[worst]!;
        context.fillRect(x, 0, 1, height);
    }
}
