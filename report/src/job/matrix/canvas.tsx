// The canvas of the matrix: strip of all columns on top, labels on the left, cells; mouse, wheel, touch, keys.
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../../shared/theme.js";
import { frameOf, paintFrame, type Frame, type Raster } from "./frame.js";
import { cellLine } from "./inspect.js";
import { makePaint, type Paint } from "./draw.js";
import { pin, toggleClass, type Cursor, type MatrixState } from "./state.js";
import { centred, fitting, kept, leastX, leastY, moved, revealing, zoomed, type Extent, type View } from "./view.js";

const ZOOM_KEY = 1.5;
const FIRST_COLUMN_PX = 16;
const FIRST_ROW_PX = 16;
const PAN_ROWS_KEY = 10;

/** What does not need drawing again by Preact: the view and what is being drawn. */
class Painter {
    view: View = { x: 0, y: 0, sx: 1, sy: 1 };
    frame: Frame = frameOf(600, 10, false);
    hover: Cursor | null = null;
    private paint: Paint | null = null;
    private asked = 0;
    private raster: Raster | null = null;

    constructor(
        readonly canvas: HTMLCanvasElement,
        readonly state: MatrixState,
    ) {}

    get extent(): Extent {
        const { columns, rows } = this.state.plane.peek();
        return { columns, rows, width: this.frame.cellsWidth, height: this.frame.cellsHeight };
    }

    repaint(): void {
        this.paint = null;
        this.draw();
    }

    /** Draws before the next frame, once. */
    draw(): void {
        this.asked ||= requestAnimationFrame(() => {
            this.asked = 0;
            const context = this.canvas.getContext("2d")!;
            this.paint ??= makePaint(context);
            this.raster = paintFrame(context, this.frame, this.view, this.state, this.paint, this.hover, this.raster);
        });
    }

    show(view: View): void {
        this.view = kept(view, this.extent);
        this.draw();
    }

    /** The end of the record, where hangs are, with cells large enough for shapes. */
    showFirst(): void {
        const { extent } = this;
        const { hang, columns } = this.state.matrix.peek();
        const sx = Math.max(FIRST_COLUMN_PX, leastX(extent));
        const sy = Math.max(FIRST_ROW_PX, leastY(extent));
        const column = hang ?? columns - 1;
        this.show({ sx, sy, y: 0, x: column + 4 - extent.width / sx });
    }

    resize(): void {
        const width = Math.max(240, this.canvas.parentElement!.clientWidth);
        this.frame = frameOf(width, this.state.plane.peek().rows, this.state.folded.peek());
        const ratio = Math.min(2, devicePixelRatio || 1);
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(this.frame.height * ratio);
        this.canvas.style.width = `${width}px`;
        this.canvas.style.height = `${this.frame.height}px`;
        this.show(this.view);
    }

    cellAt(event: MouseEvent): { cursor: Cursor | null; row: number | null; x: number; y: number } {
        const box = this.canvas.getBoundingClientRect();
        const x = event.clientX - box.left - this.frame.left;
        const y = event.clientY - box.top - this.frame.top;
        const { view, extent } = this;
        const column = Math.floor(view.x + x / view.sx);
        const row = Math.floor(view.y + y / view.sy);
        const inRows = y >= 0 && y < extent.height && row < extent.rows;
        const inColumns = x >= 0 && column < extent.columns;
        return { cursor: inRows && inColumns ? { row, column } : null, row: inRows ? row : null, x, y };
    }

    isOnStrip(event: MouseEvent): boolean {
        const y = event.clientY - this.canvas.getBoundingClientRect().top;
        return y < this.frame.strip;
    }
}

function listen(painter: Painter, tip: HTMLElement, onPin: (cursor: Cursor) => void): () => void {
    const { canvas, state } = painter;
    let drag: { x: number; y: number; far: boolean; strip: boolean } | null = null;

    const scrub = (event: PointerEvent) => {
        const box = canvas.getBoundingClientRect();
        const share = (event.clientX - box.left - painter.frame.left) / painter.frame.cellsWidth;
        const { extent, view } = painter;
        painter.show({ ...view, x: share * extent.columns - extent.width / view.sx / 2 });
    };
    const hover = (event: PointerEvent) => {
        const { cursor, x, y, row } = painter.cellAt(event);
        painter.hover = cursor;
        canvas.style.cursor = drag?.far ? "grabbing" : x < 0 && row !== null && state.rows.peek()[row]!.isClass ? "pointer" : "crosshair";
        tip.hidden = cursor === null;
        if (cursor !== null) {
            tip.textContent = cellLine(state, cursor);
            const room = painter.frame.cellsWidth - x < 330;
            tip.style.transform = `translate(${painter.frame.left + x + (room ? -12 : 14)}px, ${painter.frame.top + y + 16}px)${room ? " translateX(-100%)" : ""}`;
        }
        painter.draw();
    };
    const down = (event: PointerEvent) => {
        if (event.button !== 0) {
            return;
        }
        canvas.setPointerCapture(event.pointerId);
        drag = { x: event.clientX, y: event.clientY, far: false, strip: painter.isOnStrip(event) };
        if (drag.strip) {
            scrub(event);
        }
    };
    const move = (event: PointerEvent) => {
        if (drag?.strip) {
            scrub(event);
            return;
        }
        if (drag !== null) {
            const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
            drag.far ||= Math.abs(dx) + Math.abs(dy) > 4;
            if (drag.far) {
                painter.show(moved(painter.view, painter.extent, dx, dy));
                [drag.x, drag.y] = [event.clientX, event.clientY];
            }
        }
        hover(event);
    };
    const up = (event: PointerEvent) => {
        const clicked = drag !== null && !drag.far && !drag.strip;
        drag = null;
        if (clicked) {
            const { cursor, row, x } = painter.cellAt(event);
            const entry = row === null ? undefined : state.rows.peek()[row];
            if (cursor !== null) {
                onPin(cursor);
            } else if (x < 0 && entry?.isClass) {
                toggleClass(entry.class);
            }
        }
    };
    const leave = () => {
        painter.hover = null;
        tip.hidden = true;
        painter.draw();
    };
    const wheel = (event: WheelEvent) => {
        const wanted = event.ctrlKey || event.metaKey || document.activeElement === canvas;
        const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
        if (!wanted && !sideways) {
            return; // the page scrolls until the matrix has the focus
        }
        event.preventDefault();
        if (sideways) {
            painter.show(moved(painter.view, painter.extent, -(event.deltaX || event.deltaY), 0));
        } else {
            const { x, y } = painter.cellAt(event);
            painter.show(zoomed(painter.view, painter.extent, Math.exp(-event.deltaY * 0.0022), Math.max(0, x), Math.max(0, y)));
        }
    };
    const zoomIn = (event: MouseEvent) => {
        const { cursor, x, y } = painter.cellAt(event);
        if (cursor !== null) {
            painter.show(zoomed(painter.view, painter.extent, 2, x, y));
        }
    };
    const away = new AbortController();
    const { signal } = away;
    canvas.addEventListener("pointerdown", down, { signal });
    canvas.addEventListener("pointermove", move, { signal });
    canvas.addEventListener("pointerup", up, { signal });
    canvas.addEventListener("pointercancel", () => (drag = null), { signal });
    canvas.addEventListener("pointerleave", leave, { signal });
    canvas.addEventListener("dblclick", zoomIn, { signal });
    canvas.addEventListener("wheel", wheel, { signal, passive: false });
    return () => away.abort();
}

const STEPS: Record<string, [number, number]> = {
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    PageUp: [-PAN_ROWS_KEY, 0],
    PageDown: [PAN_ROWS_KEY, 0],
};

function onKey(painter: Painter, event: KeyboardEvent): void {
    const { state, extent } = painter;
    if (event.ctrlKey || event.metaKey || event.altKey) {
        return;
    }
    const at = state.cursor.peek() ?? { row: 0, column: state.matrix.peek().hang ?? extent.columns - 1 };
    const middle = [(at.column + 0.5 - painter.view.x) * painter.view.sx, (at.row + 0.5 - painter.view.y) * painter.view.sy] as const;
    const step = STEPS[event.key];
    if (step !== undefined) {
        const far = event.shiftKey ? PAN_ROWS_KEY : 1;
        moveCursor(painter, at.row + step[0] * far, at.column + step[1] * far);
    } else if (event.key === "Home" || event.key === "End") {
        moveCursor(painter, at.row, event.key === "Home" ? 0 : extent.columns - 1);
    } else if (event.key === "+" || event.key === "=") {
        painter.show(zoomed(painter.view, extent, ZOOM_KEY, ...middle));
    } else if (event.key === "-") {
        painter.show(zoomed(painter.view, extent, 1 / ZOOM_KEY, ...middle));
    } else if (event.key === "0") {
        painter.show(fitting(extent));
    } else if (event.key === "Enter") {
        pin(state, at);
    } else if (event.key === "x") {
        const row = state.rows.peek()[at.row];
        if (row !== undefined) {
            toggleClass(row.class);
        }
    } else if (event.key === "Escape") {
        state.cursor.value = null;
    } else {
        return;
    }
    event.preventDefault();
    event.stopPropagation();
}

function moveCursor(painter: Painter, row: number, column: number): void {
    const { rows, columns } = painter.extent;
    const cursor = { row: Math.max(0, Math.min(rows - 1, row)), column: Math.max(0, Math.min(columns - 1, column)) };
    pin(painter.state, cursor);
    painter.show(revealing(painter.view, painter.extent, cursor.row, cursor.column));
}

export interface CanvasHandle {
    zoom: (factor: number) => void;
    fit: () => void;
}

export function MatrixCanvas({ state, handle }: { state: MatrixState; handle: { current: CanvasHandle | null } }) {
    const canvas = useRef<HTMLCanvasElement>(null);
    const tip = useRef<HTMLDivElement>(null);
    const painter = useRef<Painter | null>(null);

    useEffect(() => {
        const made = new Painter(canvas.current!, state);
        painter.current = made;
        made.resize();
        made.showFirst();
        handle.current = {
            zoom: (factor) => made.show(zoomed(made.view, made.extent, factor, made.extent.width / 2, made.extent.height / 2)),
            fit: () => made.show(fitting(made.extent)),
        };
        const away = listen(made, tip.current!, (cursor) => pin(state, cursor));
        const observer = new ResizeObserver(() => made.resize());
        observer.observe(canvas.current!.parentElement!);
        return () => {
            away();
            observer.disconnect();
        };
    }, [state]);

    const shown = useRef<unknown>(null);
    useSignalEffect(() => {
        const { value: plane } = state.plane;
        const { value: matrix } = state.matrix;
        const made = painter.current;
        made?.resize();
        if (made !== null && shown.current !== null && shown.current !== matrix) {
            made.showFirst();
        }
        shown.current = matrix;
        void plane;
    });
    useSignalEffect(() => {
        void theme.value;
        painter.current?.repaint();
    });
    useSignalEffect(() => {
        void state.cursor.value;
        painter.current?.draw();
    });
    useSignalEffect(() => {
        const asked = state.centre.value;
        const made = painter.current;
        const cursor = state.cursor.peek();
        if (asked > 0 && made !== null && cursor !== null) {
            made.show(centred(made.view, made.extent, cursor.row, cursor.column));
        }
    });

    return (
        <div class="matrix-canvas">
            <canvas
                ref={canvas}
                tabIndex={0}
                role="application"
                aria-roledescription="matrix of calls"
                aria-label="Ranks by calls. Arrows move, plus and minus zoom, 0 shows all, Enter pins a call."
                aria-describedby="matrix-cell"
                onKeyDown={(event) => painter.current !== null && onKey(painter.current, event)}
            />
            <div class="tip" ref={tip} hidden aria-hidden="true" />
        </div>
    );
}
