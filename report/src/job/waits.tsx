// Who waits for whom: classes of ranks as boxes, the call as the arrow between, ends of waiting marked.
import { Graph, layout, type EdgeLabel, type NodeLabel } from "@dagrejs/dagre";
import { useMemo } from "preact/hooks";
import { plural } from "../shared/format.js";
import type { WaitEdge, WaitRoot } from "./contract.js";
import { goToRank, type MatrixState } from "./matrix/state.js";
import { whereText, type Job } from "./model.js";

const MOST_EDGES = 120;
const LINE_PX = 17;
const LONGEST = 52;
const WIDEST_PX = 1180;
const SMALLEST = 0.64; // of its size a graph may shrink to before it scrolls
const FONT = "600 12px system-ui, sans-serif";

const HOW: Record<string, string> = {
    absent: "has not made the call",
    mismatch: "made another call",
    earlier: "is blocked in an earlier call",
    stale: "no longer sees completions",
    unseen: "left nothing",
    unclear: "may not have made the call",
};

/** The end of a chain of waiting: what is said of one rank, and of several. */
const ROOTS: Record<string, readonly [string, string]> = {
    stuck: ["is in the call and does not finish", "are all in the call, nobody finishes"],
    cycle: ["waits in a circle", "wait for each other"],
    stale: ["no longer sees completions", "no longer see completions"],
    idle: ["waits for nobody", "wait for nobody"],
    unseen: ["left nothing", "left nothing"],
    unclear: ["cannot be told", "cannot be told"],
};

const isOne = (ranks: string): boolean => /^\d+$/.test(ranks);

function rootText({ kind, ranks }: WaitRoot): string {
    return ROOTS[kind]?.[isOne(ranks) ? 0 : 1] ?? kind;
}

const measure = document.createElement("canvas").getContext("2d")!;

function widthOf(text: string): number {
    measure.font = FONT;
    return Math.ceil(measure.measureText(text).width) + 2;
}

const short = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

interface Box {
    index: number;
    x: number;
    y: number;
    width: number;
    height: number;
    lines: string[];
    root: WaitRoot | null;
    culprit: boolean;
    inCycle: boolean;
}

interface Arrow {
    edge: WaitEdge;
    path: string;
    label: { x: number; y: number; text: string };
    inCycle: boolean;
}

interface Drawing {
    width: number;
    height: number;
    boxes: Box[];
    arrows: Arrow[];
}

function rootOf(roots: readonly WaitRoot[], index: number): WaitRoot | null {
    return roots.find(({ classes }) => classes.includes(index)) ?? null;
}

function linesOf(job: Job, index: number, root: WaitRoot | null): string[] {
    const { ranks, count, host } = job.classes[index]!;
    const head = `${count === 1 ? "rank" : "ranks"} ${short(ranks)}${count > 1 ? ` (${count})` : ""}`;
    const end = root === null ? null : `■ ${rootText(root)}`;
    const [call = "", state] = whereText(job.classes[index]!).split(/ \((?=[^()]*\)$)/);
    return [head, host ?? "", call, state?.slice(0, -1) ?? "", end ?? ""].filter((line) => line !== "").map(short);
}

function smooth(points: readonly { x: number; y: number }[]): string {
    const [first, ...rest] = points;
    if (first === undefined) {
        return "";
    }
    let path = `M${first.x},${first.y}`;
    for (let at = 0; at + 1 < rest.length; at++) {
        const control = rest[at]!;
        const next = rest[at + 1]!;
        const end = at + 2 === rest.length ? next : { x: (control.x + next.x) / 2, y: (control.y + next.y) / 2 };
        path += ` Q${control.x},${control.y} ${end.x},${end.y}`;
    }
    return rest.length === 1 ? `${path} L${rest[0]!.x},${rest[0]!.y}` : path;
}

/** From left to right where that fits on a page, else from top to bottom. */
function draw(job: Job): Drawing {
    const across = drawTo(job, "LR");
    return across.width <= WIDEST_PX ? across : drawTo(job, "TB");
}

function drawTo(job: Job, rankdir: "LR" | "TB"): Drawing {
    const { edges: all = [], roots = [], cycles = [] } = job.document.waits ?? {};
    const edges = all.slice(0, MOST_EDGES);
    const graph = new Graph<object, NodeLabel, EdgeLabel>({ multigraph: true });
    graph.setGraph({ rankdir, nodesep: 22, ranksep: rankdir === "LR" ? 60 : 34, edgesep: 14, marginx: 8, marginy: 8 });
    const nodes = new Set([...edges.flatMap(({ from, to }) => [from, to]), ...roots.flatMap(({ classes }) => classes)]);
    const lines = new Map([...nodes].map((index) => [index, linesOf(job, index, rootOf(roots, index))]));
    for (const [index, text] of lines) {
        graph.setNode(`${index}`, { width: Math.max(...text.map(widthOf)) + 28, height: text.length * LINE_PX + 16 });
    }
    edges.forEach(({ from, to, operation }, at) => {
        const text = short(operation);
        graph.setEdge(`${from}`, `${to}`, { width: widthOf(text) + 12, height: 22, labelpos: "c" }, `${at}`);
    });
    layout(graph);
    const inCycle = (index: number) => cycles.some(({ classes }) => classes.includes(index));
    const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
    return {
        width,
        height,
        boxes: [...nodes].map((index) => {
            const node = graph.node(`${index}`) as Required<Pick<NodeLabel, "x" | "y" | "width" | "height">>;
            return { index, ...node, lines: lines.get(index)!, root: rootOf(roots, index), culprit: job.classes[index]!.culprit, inCycle: inCycle(index) };
        }),
        arrows: edges.map((edge, at) => {
            const found = graph.edge(`${edge.from}`, `${edge.to}`, `${at}`) as Required<Pick<EdgeLabel, "x" | "y" | "points">>;
            const text = short(edge.operation);
            return { edge, path: smooth(found.points), label: { x: found.x, y: found.y, text }, inCycle: inCycle(edge.from) && inCycle(edge.to) };
        }),
    };
}

function edgeText(job: Job, { from, to, operation, how, waiters, holders }: WaitEdge): string {
    const name = (index: number, count: number) => `${plural(count, "rank")} of ${job.classes[index]!.ranks}`;
    return `${name(from, waiters)} wait in ${operation} for ${name(to, holders)}: ${HOW[how] ?? how}`;
}

function ArrowView({ arrow, text }: { arrow: Arrow; text: string }) {
    const { label } = arrow;
    const width = widthOf(label.text) + 12;
    return (
        <g class={`wait-edge how-${arrow.edge.how} ${arrow.inCycle ? "in-cycle" : ""}`}>
            <title>{text}</title>
            <path d={arrow.path} marker-end="url(#wait-arrow)" />
            <rect x={label.x - width / 2} y={label.y - 11} width={width} height="20" rx="4" />
            <text x={label.x} y={label.y + 3.5} text-anchor="middle">
                {label.text}
            </text>
        </g>
    );
}

function BoxView({ box, onOpen }: { box: Box; onOpen: () => void }) {
    const left = box.x - box.width / 2;
    const top = box.y - box.height / 2;
    const tone = box.culprit ? "culprit" : box.root !== null ? "root" : "";
    return (
        <g
            class={`wait-node ${tone} ${box.inCycle ? "in-cycle" : ""}`}
            role="button"
            tabIndex={0}
            onClick={onOpen}
            onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), onOpen())}
        >
            <rect x={left} y={top} width={box.width} height={box.height} rx="7" />
            {box.root !== null && <rect class="inner" x={left + 3.5} y={top + 3.5} width={box.width - 7} height={box.height - 7} rx="4.5" />}
            {box.lines.map((line, at) => (
                <text key={at} x={left + 14} y={top + 20 + at * LINE_PX} class={at === 0 ? "head" : ""}>
                    {line}
                </text>
            ))}
        </g>
    );
}

export function Waits({ job, state }: { job: Job; state: MatrixState }) {
    const drawing = useMemo(() => draw(job), [job]);
    const waits = job.document.waits!;
    return (
        <>
            <div class="card graph" tabIndex={0} role="group" aria-label="Graph of waiting">
                <svg style={{ width: `${drawing.width}px`, minWidth: `${drawing.width * SMALLEST}px` }} viewBox={`0 0 ${drawing.width} ${drawing.height}`} role="group" aria-label="Boxes are ranks, arrows point at whom they wait for">
                    <defs>
                        <marker id="wait-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">
                            <path d="M0,0 L8,4 L0,8 z" />
                        </marker>
                    </defs>
                    {drawing.arrows.map((arrow, at) => (
                        <ArrowView key={at} arrow={arrow} text={edgeText(job, arrow.edge)} />
                    ))}
                    {drawing.boxes.map((box) => (
                        <BoxView key={box.index} box={box} onOpen={() => goToRank(state, job.ranks[job.classes[box.index]!.example]!.rank)} />
                    ))}
                </svg>
            </div>
            <ul class="roots">
                {waits.roots.map((root, at) => (
                    <li key={at}>
                        <strong>
                            {isOne(root.ranks) ? "rank" : "ranks"} {root.ranks}
                        </strong>{" "}
                        {rootText(root)}
                        {root.operation !== null && root.operation !== "" && (
                            <>
                                {" · "}
                                <bdi>{root.operation}</bdi>
                            </>
                        )}
                        <span class="quiet"> · the waiting of {plural(root.reach, "rank")} ends here</span>
                    </li>
                ))}
                {waits.cycles.map(({ ranks, odd }, at) => (
                    <li key={`cycle-${at}`}>
                        <strong>↻ ranks {ranks}</strong> wait for each other
                        {odd !== null && odd !== "" && <span class="quiet"> · the odd one: {odd}</span>}
                    </li>
                ))}
                {waits.edges.length > MOST_EDGES && <li class="quiet">{waits.edges.length - MOST_EDGES} more arrows are left out.</li>}
            </ul>
        </>
    );
}
