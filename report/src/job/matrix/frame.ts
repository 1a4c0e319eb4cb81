// One picture of the matrix: strip, axis, labels, cells, cursor.
import { drawCells, drawOverview, hasShapes, type Paint } from "./draw.js";
import type { Plane } from "./plane.js";
import { rasterise } from "./raster.js";
import type { Cursor, MatrixState } from "./state.js";
import type { View } from "./view.js";

const STRIP_PX = 16;
const AXIS_PX = 26;
const ROW_PX = 24;
const LEAST_HEIGHT_PX = 120;
const MOST_HEIGHT_PX = 520;
const LABEL_PX = 17;
const NARROW_PX = 700;
const HANG_LABEL_PX = 20; // half of it

export interface Frame {
    width: number;
    height: number;
    strip: number;
    left: number;
    top: number;
    cellsWidth: number;
    cellsHeight: number;
}

export function frameOf(width: number, rows: number, folded: boolean): Frame {
    const left = width < NARROW_PX ? 104 : folded ? 250 : 226;
    const top = STRIP_PX + AXIS_PX;
    const cellsHeight = Math.max(Math.min(LEAST_HEIGHT_PX, rows * ROW_PX), Math.min(MOST_HEIGHT_PX, rows * ROW_PX));
    return { width, height: top + cellsHeight + 2, strip: STRIP_PX, left, top, cellsWidth: width - left, cellsHeight };
}

function fitText(context: CanvasRenderingContext2D, text: string, room: number): string {
    if (context.measureText(text).width <= room) {
        return text;
    }
    let length = text.length;
    while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > room) {
        length--;
    }
    return `${text.slice(0, length)}…`;
}

function drawLabels(context: CanvasRenderingContext2D, frame: Frame, view: View, state: MatrixState, paint: Paint): void {
    const rows = state.rows.peek();
    const every = Math.max(1, Math.ceil(LABEL_PX / view.sy));
    const last = Math.min(rows.length, Math.ceil(view.y + frame.cellsHeight / view.sy));
    const cursor = state.cursor.peek();
    context.textBaseline = "middle";
    for (let at = Math.floor(view.y); at < last; at++) {
        const row = rows[at]!;
        const y = frame.top + (at + 0.5 - view.y) * view.sy;
        if (row.culprit && !row.isOpen) {
            drawMarker(context, frame.left - 7, y, paint.token("missing"));
        }
        if (at % every !== 0 || y < frame.top + 4 || y > frame.top + frame.cellsHeight) {
            continue;
        }
        const room = frame.left - 22;
        context.font = `${row.culprit ? "650" : cursor?.row === at ? "650" : "400"} 12.5px ${paint.token("sans")}`;
        context.fillStyle = row.culprit ? paint.token("error") : paint.token("ink");
        const text = fitText(context, `${row.isClass ? (row.isOpen ? "▾ " : "▸ ") : ""}${row.label}`, room);
        context.fillText(text, 2, y);
        const used = context.measureText(text).width + 12;
        if (room - used > 40 && row.detail !== "") {
            context.font = `400 12px ${paint.token("sans")}`;
            context.fillStyle = paint.token("quiet");
            context.textAlign = "right";
            context.fillText(fitText(context, row.detail, room - used), frame.left - 18, y);
            context.textAlign = "left";
        }
    }
}

function drawMarker(context: CanvasRenderingContext2D, x: number, y: number, style: string): void {
    context.fillStyle = style;
    context.beginPath();
    context.moveTo(x - 4, y - 5);
    context.lineTo(x + 4, y);
    context.lineTo(x - 4, y + 5);
    context.fill();
}

function drawAxis(context: CanvasRenderingContext2D, frame: Frame, view: View, state: MatrixState, paint: Paint): void {
    const matrix = state.matrix.peek();
    const every = niceStep(58 / view.sx);
    const last = Math.min(matrix.columns, Math.ceil(view.x + frame.cellsWidth / view.sx));
    const y = frame.top - 11;
    const first = Math.floor(view.x);
    // round numbers where calls are numbered without gaps; else every so many columns
    const isDense = matrix.numberOf(last - 1) - matrix.numberOf(first) === last - 1 - first;
    const hangX = matrix.hang === null ? -Infinity : (matrix.hang + 0.5 - view.x) * view.sx;
    context.font = `400 11.5px ${paint.token("sans")}`;
    context.textBaseline = "middle";
    context.textAlign = "center";
    context.fillStyle = paint.token("quiet");
    for (let column = first; column < last; column++) {
        const x = (column + 0.5 - view.x) * view.sx;
        if ((isDense ? matrix.numberOf(column) : column) % every === 0 && Math.abs(x - hangX) > 44 && x > 0) {
            context.fillText(`${matrix.numberOf(column)}`, frame.left + x, y);
        }
    }
    if (hangX >= 0 && hangX <= frame.cellsWidth) {
        context.font = `650 11.5px ${paint.token("sans")}`;
        context.fillStyle = paint.token("ink");
        context.fillText(`${matrix.numberOf(matrix.hang!)}`, Math.min(frame.left + hangX, frame.width - HANG_LABEL_PX), y);
        context.fillStyle = paint.token("hung");
        context.beginPath();
        context.moveTo(frame.left + hangX - 5, frame.top - 5);
        context.lineTo(frame.left + hangX + 5, frame.top - 5);
        context.lineTo(frame.left + hangX, frame.top);
        context.fill();
    }
    context.textAlign = "left";
}

/** The next of 1, 2, 5, 10, 20, … that is no less. */
function niceStep(least: number): number {
    const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power;
}

function outline(context: CanvasRenderingContext2D, frame: Frame, view: View, { row, column }: Cursor, style: string, width: number): void {
    const x = frame.left + (column - view.x) * view.sx;
    const y = frame.top + (row - view.y) * view.sy;
    if (x + view.sx < frame.left || x > frame.width || y + view.sy < frame.top || y > frame.top + frame.cellsHeight) {
        return;
    }
    context.strokeStyle = style;
    context.lineWidth = width;
    context.strokeRect(x - 1, y - 1, Math.max(4, view.sx + 1), Math.max(4, view.sy + 1));
}

function drawStrip(context: CanvasRenderingContext2D, frame: Frame, view: View, state: MatrixState, paint: Paint): void {
    const plane = state.plane.peek();
    const { hang, columns } = state.matrix.peek();
    context.save();
    context.translate(frame.left, 0);
    drawOverview(context, plane, paint, frame.cellsWidth, frame.strip - 6);
    if (hang !== null) {
        context.fillStyle = paint.token("hung");
        context.fillRect(Math.min(frame.cellsWidth - 3, ((hang + 0.5) / columns) * frame.cellsWidth - 1.5), 0, 3, frame.strip - 6);
    }
    const from = (view.x / columns) * frame.cellsWidth;
    const wide = Math.min(frame.cellsWidth, (frame.cellsWidth / view.sx / columns) * frame.cellsWidth);
    context.strokeStyle = paint.token("ink");
    context.lineWidth = 1.5;
    context.strokeRect(from + 1, 0.75, Math.max(4, wide - 2), frame.strip - 7.5);
    context.restore();
    context.font = `400 11.5px ${paint.token("sans")}`;
    context.fillStyle = paint.token("quiet");
    context.textBaseline = "middle";
    context.fillText(`${columns} calls`, 2, (frame.strip - 6) / 2 + 1);
}

/** Cells as they were painted last: a cursor that moves needs no new ones. */
export interface Raster {
    image: ImageData;
    plane: Plane;
    view: View;
    paint: Paint;
}

function rasterFor(plane: Plane, view: View, paint: Paint, width: number, height: number, ratio: number, last: Raster | null): Raster {
    const isSame = last !== null && last.plane === plane && last.view === view && last.paint === paint && last.image.width === width && last.image.height === height;
    if (isSame) {
        return last;
    }
    const image = last !== null && last.image.width === width && last.image.height === height ? last.image : new ImageData(width, height);
    rasterise(plane, view, paint.pixels, image, ratio);
    return { image, plane, view, paint };
}

/** Paints all and returns the raster of the cells, for the next time. */
export function paintFrame(context: CanvasRenderingContext2D, frame: Frame, view: View, state: MatrixState, paint: Paint, hover: Cursor | null, last: Raster | null): Raster | null {
    const ratio = context.canvas.width / frame.width;
    const plane = state.plane.peek();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = paint.token("surface");
    context.fillRect(0, 0, frame.width, frame.height);
    if (plane.columns === 0 || plane.rows === 0) {
        return null;
    }
    let raster: Raster | null = null;
    drawStrip(context, frame, view, state, paint);
    drawLabels(context, frame, view, state, paint);
    if (hasShapes(view)) {
        context.save();
        context.beginPath();
        context.rect(frame.left, frame.top, frame.cellsWidth, frame.cellsHeight);
        context.clip();
        context.translate(frame.left, frame.top);
        drawCells(context, plane, view, paint, frame.cellsWidth, frame.cellsHeight);
        context.restore();
    } else {
        raster = rasterFor(plane, view, paint, Math.round(frame.cellsWidth * ratio), Math.round(frame.cellsHeight * ratio), ratio, last);
        context.putImageData(raster.image, Math.round(frame.left * ratio), Math.round(frame.top * ratio));
    }
    drawAxis(context, frame, view, state, paint);
    if (hover !== null) {
        outline(context, frame, view, hover, paint.token("line-strong"), 1.5);
    }
    const cursor = state.cursor.peek();
    if (cursor !== null && cursor.row < plane.rows && cursor.column < plane.columns) {
        outline(context, frame, view, cursor, paint.token("focus"), 2.5);
    }
    return raster;
}
