import { useEffect, useRef } from "preact/hooks";
import { note } from "../../shared/place.js";
import type { Job } from "../model.js";
import { type CanvasHandle, MatrixCanvas } from "./canvas.js";
import { STATES, STEPS } from "./cell.js";
import { StateIcon } from "./icon.js";
import { CellPanel } from "./inspect.js";
import { ORDERS } from "./rows.js";
import { goToCulprit, goToHang, takePlace, verdictMatrix, type MatrixState } from "./state.js";

const LEGEND = [5, 6, 7, 3, 2, 4, 8, 9];

function Legend() {
    return (
        <ul class="legend" aria-label="Legend">
            {LEGEND.map((state) => (
                <li key={state}>
                    <StateIcon state={state} /> {STATES[state]!.title}
                </li>
            ))}
            <li class="scale">
                completed, after the first member:
                {STEPS.map((title, step) => (
                    <span key={step} class="step">
                        <StateIcon state={1} step={step} />
                        {title}
                    </span>
                ))}
            </li>
        </ul>
    );
}

/** Matrices by the kind of their group, in the order they come in. */
function kindsOf(job: Job): { kind: string; options: Job["matrixOptions"][number][] }[] {
    const found = new Map<string, Job["matrixOptions"][number][]>();
    for (const option of job.matrixOptions) {
        const options = found.get(option.kind);
        if (options === undefined) {
            found.set(option.kind, [option]);
        } else {
            options.push(option);
        }
    }
    return [...found].map(([kind, options]) => ({ kind, options }));
}

function Chooser({ state }: { state: MatrixState }) {
    const { job } = state;
    const most = verdictMatrix(job);
    return (
        <label>
            <span class="quiet">calls of</span>
            <select
                value={`${state.matrix.value.index}`}
                onChange={({ currentTarget }) => {
                    state.cursor.value = null;
                    note({ m: Number(currentTarget.value) === most ? null : currentTarget.value, rank: null, call: null });
                }}
            >
                {kindsOf(job).map(({ kind, options }) => (
                    <optgroup key={kind} label={kind}>
                        {options.map(({ index, label }) => (
                            <option key={index} value={`${index}`}>
                                {label}
                            </option>
                        ))}
                    </optgroup>
                ))}
            </select>
        </label>
    );
}

export function MatrixSection({ state }: { state: MatrixState }) {
    const handle = useRef<CanvasHandle | null>(null);
    useEffect(() => {
        takePlace(state);
        const follow = () => takePlace(state);
        addEventListener("hashchange", follow);
        return () => removeEventListener("hashchange", follow);
    }, [state]);
    const folded = state.folded.value;
    return (
        <div class="matrix">
            <div class="controls">
                <Chooser state={state} />
                <div class="switch" role="group" aria-label="Rows">
                    <button type="button" class="button" aria-pressed={folded} onClick={() => note({ rows: null })}>
                        Equal ranks folded
                    </button>
                    <button type="button" class="button" aria-pressed={!folded} onClick={() => note({ rows: "ranks" })}>
                        Every rank
                    </button>
                </div>
                <label>
                    <span class="quiet">by</span>
                    <select value={state.order.value} onChange={({ currentTarget }) => note({ order: currentTarget.value === "verdict" ? null : currentTarget.value })}>
                        {ORDERS.map((order) => (
                            <option key={order} value={order}>
                                {order}
                            </option>
                        ))}
                    </select>
                </label>
                <span class="spring" />
                <button type="button" class="button" title="key c" onClick={() => goToCulprit(state)}>
                    Culprit
                </button>
                <button type="button" class="button" title="key h" onClick={() => goToHang(state)}>
                    Hang
                </button>
                <div class="switch" role="group" aria-label="Zoom">
                    <button type="button" class="button" aria-label="Zoom out" title="key −" onClick={() => handle.current?.zoom(1 / 1.6)}>
                        −
                    </button>
                    <button type="button" class="button" title="key 0" onClick={() => handle.current?.fit()}>
                        All
                    </button>
                    <button type="button" class="button" aria-label="Zoom in" title="key +" onClick={() => handle.current?.zoom(1.6)}>
                        +
                    </button>
                </div>
            </div>
            <div class="matrix-card">
                <div class="matrix-main">
                    <MatrixCanvas state={state} handle={handle} />
                    <Legend />
                </div>
                <CellPanel state={state} />
            </div>
            <p class="quiet hint">Drag to move; the wheel zooms once the matrix has the focus, with Ctrl at any time. The strip on top is the whole record. Click a folded row's name to open it.</p>
        </div>
    );
}
