// Verdicts over time: stacked bars, of which a span can be chosen and looked at more closely.
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { count, plural } from "../shared/format.js";
import { note, valueOf } from "../shared/place.js";
import { beginOf, bucketsOf, lineStep, stacksOf, stepWords, type Buckets, type Stack } from "./buckets.js";
import { choose, chooseTime, type View } from "./choice.js";
import { verdictsOf } from "./model.js";
import { day, hours, moment } from "./words.js";

const HEIGHT_PX = 220;
const LEFT_PX = 46;
const TOP_PX = 10;
const BOTTOM_PX = 22;
const LEAST_BAR_PX = 9;
const MOST_BUCKETS = 120;
/** More verdicts than there are colours that everybody tells apart are one. */
const COLOURS = 7;
const OTHERS = "others";
/** What is no failure. */
const CALM: readonly string[] = ["undetermined", "healthy"];

interface Order {
    names: readonly string[];
    classes: readonly string[];
    placeOf: (verdict: string) => number;
}

/** From the bottom up: failures by how many there are, then others, then what is no failure. */
function orderOf(view: View): Order {
    const all = verdictsOf(view.fleet.jobs);
    const calm = CALM.filter((name) => all.some(([each]) => each === name));
    const failures = all.map(([name]) => name).filter((name) => !CALM.includes(name));
    const own = failures.length > COLOURS ? failures.slice(0, COLOURS - 1) : failures;
    const names = [...own, ...(failures.length > own.length ? [OTHERS] : []), ...calm];
    const places = new Map(names.map((name, at) => [name, at]));
    const classes = names.map((name, at) => (calm.includes(name) ? `v-${name}` : name === OTHERS ? "v-others" : `v-${at}`));
    return { names, classes, placeOf: (verdict) => places.get(verdict) ?? places.get(OTHERS) ?? 0 };
}

interface Bar {
    x: number;
    y: number;
    width: number;
    height: number;
    class: string;
}

function barsOf(stacks: readonly Stack[], measure: "jobs" | "gpuHours", most: number, width: number, { classes }: Order): Bar[] {
    const slot = width / stacks.length;
    const room = HEIGHT_PX - TOP_PX - BOTTOM_PX;
    const gap = slot > 6 ? 1.5 : 0.5;
    return stacks.flatMap((stack, index) => {
        let y = HEIGHT_PX - BOTTOM_PX;
        return stack[measure].flatMap((value, at) => {
            if (value === 0) {
                return [];
            }
            const height = Math.max(0.75, (value / most) * room);
            y -= height;
            return [{ x: LEFT_PX + index * slot, y, width: Math.max(1, slot - gap), height, class: classes[at]! }];
        });
    });
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Labels below the bars that do not touch each other. */
function ticksOf(buckets: Buckets, width: number): { x: number; text: string }[] {
    const slot = width / buckets.count;
    const every = Math.max(1, Math.ceil(92 / slot));
    const text = buckets.step < 86_400_000 ? (ms: number) => moment(ms).slice(5) : day;
    return Array.from({ length: Math.ceil(buckets.count / every) }, (_, at) => ({ x: LEFT_PX + at * every * slot, text: text(beginOf(buckets, at * every)) })).filter(
        ({ x }) => x < LEFT_PX + width - 70 || buckets.count === 1,
    );
}

function Tip({ buckets, stacks, order, at, width }: { buckets: Buckets; stacks: readonly Stack[]; order: Order; at: number; width: number }) {
    const stack = stacks[at];
    if (stack === undefined) {
        return null;
    }
    const x = LEFT_PX + ((at + 0.5) * width) / buckets.count;
    const style = x > width / 2 ? { right: `${LEFT_PX + width - x + 12}px`, left: "auto" } : { left: `${x + 12}px` };
    const begin = beginOf(buckets, at);
    const when = buckets.step < 86_400_000 ? moment(begin) : buckets.step === 86_400_000 ? day(begin) : `${day(begin)} to ${day(begin + buckets.step - 1)}`;
    const lost = sumOf(stack.gpuHours);
    return (
        <div class="tip chart-tip" style={style}>
            <strong>{when}</strong>
            {order.names.map(
                (name, place) =>
                    stack.jobs[place]! > 0 && (
                        <span key={name} class="tip-row">
                            <i class={`swatch ${order.classes[place]}`} /> <bdi>{name}</bdi> <b>{count(stack.jobs[place]!)}</b>
                        </span>
                    ),
            )}
            {sumOf(stack.jobs) === 0 && <span>no job</span>}
            {lost > 0 && <span>{hours(lost)} GPU-hours</span>}
        </div>
    );
}

/** The pointer and the keys: a span from where it was begun to where it is. */
function useBrush(buckets: Buckets, width: number) {
    const cursor = useSignal<number | null>(null);
    const begun = useSignal<number | null>(null);
    const dragging = useSignal(false);
    const clamp = (index: number) => Math.max(0, Math.min(buckets.count - 1, index));
    const at = (event: PointerEvent) => clamp(Math.floor(((event.offsetX - LEFT_PX) / width) * buckets.count));
    const take = (a: number, b: number) => chooseTime(beginOf(buckets, Math.min(a, b)), beginOf(buckets, Math.max(a, b) + 1));
    return {
        cursor,
        begun,
        onPointerDown: (event: PointerEvent) => {
            (event.currentTarget as Element).setPointerCapture(event.pointerId);
            dragging.value = true;
            begun.value = at(event);
            cursor.value = begun.value;
        },
        onPointerMove: (event: PointerEvent) => (cursor.value = at(event)),
        onPointerUp: (event: PointerEvent) => {
            if (dragging.value && begun.value !== null) {
                take(begun.value, at(event));
            }
            dragging.value = false;
            begun.value = null;
        },
        onPointerLeave: () => {
            if (!dragging.value) {
                cursor.value = null;
            }
        },
        onPointerCancel: () => {
            dragging.value = false;
            begun.value = null;
        },
        onBlur: () => {
            if (!dragging.value) {
                cursor.value = null;
                begun.value = null;
            }
        },
        onKeyDown: (event: KeyboardEvent) => {
            const now = cursor.value ?? buckets.count;
            const steps: Record<string, number> = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: buckets.count - 1 };
            const to = steps[event.key];
            if (to !== undefined) {
                begun.value = event.shiftKey ? (begun.value ?? clamp(now)) : null;
                cursor.value = clamp(to);
            } else if (event.key === "Enter" && cursor.value !== null) {
                take(begun.value ?? cursor.value, cursor.value);
                begun.value = null;
            } else if (event.key === "Escape") {
                begun.value = null;
                chooseTime(null, null);
            } else {
                return;
            }
            event.preventDefault();
        },
    };
}

function Legend({ view, order }: { view: View; order: Order }) {
    const counts = useComputed(() => {
        const found = order.names.map(() => 0);
        for (const { verdict } of view.jobs.value) {
            found[order.placeOf(verdict)]!++;
        }
        return found;
    });
    return (
        <ul class="chart-legend" aria-label="Verdicts">
            {order.names.map((name, at) => (
                <li key={name}>
                    {name === OTHERS ? (
                        <span class="legend-item">
                            <i class={`swatch ${order.classes[at]}`} /> others <b>{count(counts.value[at]!)}</b>
                        </span>
                    ) : (
                        <button
                            type="button"
                            class="legend-item"
                            aria-pressed={view.choice.value.verdict === name}
                            title={view.fleet.document.topics[name]?.title ?? "could not be judged"}
                            onClick={() => choose(view, "verdict", name)}
                        >
                            <i class={`swatch ${order.classes[at]}`} /> <bdi>{name}</bdi> <b>{count(counts.value[at]!)}</b>
                        </button>
                    )}
                </li>
            ))}
        </ul>
    );
}

export function Chart({ view }: { view: View }) {
    const { fleet } = view;
    const frame = useRef<HTMLDivElement>(null);
    const outer = useSignal(1100);
    const order = useMemo(() => orderOf(view), [view]);
    useEffect(() => {
        const observer = new ResizeObserver(([entry]) => (outer.value = Math.max(240, Math.floor(entry!.contentRect.width))));
        observer.observe(frame.current!);
        return () => observer.disconnect();
    }, []);
    const { from, to } = view.choice.value;
    const close = valueOf("close") !== "" && (from !== null || to !== null);
    const measure = valueOf("measure") === "gpu-hours" ? "gpuHours" : "jobs";
    const width = outer.value - LEFT_PX - 4;
    const buckets = useMemo(() => {
        const first = (close ? from : null) ?? fleet.first!;
        const last = close && to !== null ? to - 1 : fleet.newest!;
        return bucketsOf(first, Math.max(first, last), Math.max(4, Math.min(MOST_BUCKETS, Math.floor(width / LEAST_BAR_PX))));
    }, [fleet, close, from, to, width]);
    const jobs = view.ofAllTime.value;
    const stacks = useMemo(() => stacksOf(buckets, jobs, order.placeOf, order.names.length), [buckets, jobs, order]);
    const most = Math.max(measure === "jobs" ? 1 : 1e-3, ...stacks.map((stack) => sumOf(stack[measure])));
    const bars = useMemo(() => barsOf(stacks, measure, most, width, order), [stacks, measure, most, width, order]);
    const brush = useBrush(buckets, width);
    const slot = width / buckets.count;
    const step = measure === "jobs" ? Math.max(1, lineStep(most)) : lineStep(most);
    const room = HEIGHT_PX - TOP_PX - BOTTOM_PX;
    const edge = (ms: number) => LEFT_PX + Math.max(0, Math.min(buckets.count, (ms - buckets.from) / buckets.step)) * slot;
    const chosen = !close && (from !== null || to !== null) ? [edge(from ?? buckets.from), edge(to ?? Infinity)] : null;
    const { cursor, begun } = brush;
    const being = begun.value !== null && cursor.value !== null ? [Math.min(begun.value, cursor.value), Math.max(begun.value, cursor.value) + 1] : null;
    const untimed = jobs.filter(({ happened }) => happened === null).length;
    return (
        <div class="card chart" ref={frame}>
            <div class="controls">
                <div class="switch" role="group" aria-label="Height of the bars">
                    <button type="button" class="button" aria-pressed={measure === "jobs"} onClick={() => note({ measure: null })}>
                        Jobs
                    </button>
                    <button type="button" class="button" aria-pressed={measure === "gpuHours"} onClick={() => note({ measure: "gpu-hours" })}>
                        GPU-hours lost
                    </button>
                </div>
                <span class="quiet">a bar is {stepWords(buckets.step) === "hour" ? "an hour" : `a ${stepWords(buckets.step)}`.replace(/^a (\d)/, "$1")}, UTC; drag over bars to choose a time</span>
                <span class="spring" />
                {(from !== null || to !== null) && (
                    <>
                        <button type="button" class="button" aria-pressed={close} onClick={() => note({ close: close ? null : "1" })}>
                            {close ? "Show all the time" : "Look closer"}
                        </button>
                        <button type="button" class="button" onClick={() => (note({ close: null }), chooseTime(null, null))}>
                            All the time
                        </button>
                    </>
                )}
            </div>
            <div class="chart-room">
                <svg
                    width={outer.value}
                    height={HEIGHT_PX}
                    role="application"
                    aria-label={`Verdicts over time, ${plural(buckets.count, "bar")}. Arrows walk, Shift widens, Enter chooses, Escape takes it back.`}
                    tabIndex={0}
                    onPointerDown={brush.onPointerDown}
                    onPointerMove={brush.onPointerMove}
                    onPointerUp={brush.onPointerUp}
                    onPointerLeave={brush.onPointerLeave}
                    onPointerCancel={brush.onPointerCancel}
                    onBlur={brush.onBlur}
                    onKeyDown={brush.onKeyDown}
                >
                    {Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => {
                        const y = HEIGHT_PX - BOTTOM_PX - ((at * step) / most) * room;
                        return (
                            <g key={at}>
                                <line class="grid" x1={LEFT_PX} x2={LEFT_PX + width} y1={y} y2={y} />
                                <text class="label" x={LEFT_PX - 7} y={y + 4} text-anchor="end">
                                    {measure === "jobs" ? count(at * step) : hours(at * step)}
                                </text>
                            </g>
                        );
                    })}
                    {ticksOf(buckets, width).map(({ x, text }) => (
                        <text key={x} class="label" x={x} y={HEIGHT_PX - 5}>
                            {text}
                        </text>
                    ))}
                    {cursor.value !== null && <rect class="cursor" x={LEFT_PX + cursor.value * slot} y={TOP_PX} width={slot} height={room} />}
                    {bars.map((bar, at) => (
                        <rect key={at} {...bar} />
                    ))}
                    {chosen !== null && (
                        <>
                            <rect class="veil" x={LEFT_PX} y={0} width={chosen[0]! - LEFT_PX} height={HEIGHT_PX - BOTTOM_PX} />
                            <rect class="veil" x={chosen[1]!} y={0} width={Math.max(0, LEFT_PX + width - chosen[1]!)} height={HEIGHT_PX - BOTTOM_PX} />
                        </>
                    )}
                    {being !== null && <rect class="being" x={LEFT_PX + being[0]! * slot} y={TOP_PX} width={(being[1]! - being[0]!) * slot} height={room} />}
                </svg>
                {cursor.value !== null && <Tip buckets={buckets} stacks={stacks} order={order} at={cursor.value} width={width} />}
            </div>
            <Legend view={view} order={order} />
            {untimed > 0 && <p class="quiet">{plural(untimed, "job")} of no known time: not among the bars.</p>}
        </div>
    );
}
