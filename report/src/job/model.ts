// The job as the page uses it: columns as arrays, rows of columns as objects where something is shown.
import type { Payload, Section, SectionRef } from "../shared/payload.js";
import { NONE, type Class, type Frame, type Group, type ReportDocument, type Signature } from "./contract.js";
import { severityOfCell } from "./matrix/cell.js";

type Arrays<Of> = { [Key in keyof Of]: Section };

export interface RankRow {
    index: number;
    rank: number;
    host: string | null;
    gpu: number | null;
    class: number;
    role: number;
    flags: number;
    source: string | null;
    calls: number | null;
    pending: number | null;
    group: number | null;
    seq: number | null;
    signature: number | null;
    stack: number | null;
    state: number;
    since: number | null;
    finished: number | null;
    late: number | null;
    last: number | null;
}

export const MatrixKind = { Collectives: 0, Pairs: 1, Overall: 2 } as const;
export type MatrixKind = number;

/** One matrix: members and columns, cells as severities. */
export interface Matrix {
    index: number;
    group: Group | null;
    groupIndex: number | null;
    kind: MatrixKind;
    label: string;
    columns: number;
    hang: number | null;
    tail: number;
    members: number;
    /** Row of `ranks` of a member. */
    rankOf: (member: number) => number;
    numberOf: (column: number) => number;
    signatureOf: (column: number) => Signature | null;
    /** The cells of a member; members with equal cells share one array. */
    rowOf: (member: number) => Uint8Array;
    exact: (member: number, column: number) => ExactTimes | null;
    columnTimes: (column: number) => { first: number; late: number | null; last: number | null } | null;
}

export interface ExactTimes {
    made: number | null;
    lastedUs: number | null;
}

export interface Record {
    group: number | null;
    record: number;
    seq: number | null;
    p2p: number | null;
    signature: number | null;
    stack: number | null;
    state: number;
    created: number | null;
    lastedUs: number;
    durationMs: number | null;
}

export interface Job {
    document: ReportDocument;
    ranks: readonly RankRow[];
    /** Row of `ranks` of a global rank. */
    rowOfRank: ReadonlyMap<number, number>;
    classes: readonly Class[];
    matrixCount: number;
    matrix: (index: number) => Matrix;
    matrixOptions: readonly { index: number; label: string; kind: string }[];
    /** Whether hosts can be told apart by what stands before the first dot. */
    hostsAreShort: boolean;
    recordsOf: (rankRow: number) => Record[];
    timeOf: (offset: number | null) => bigint | null;
}

const known = (value: number | undefined): number | null => (value === undefined || value === NONE || Number.isNaN(value) ? null : value);

function arraysOf<Of extends { [key: string]: SectionRef }>(payload: Payload<ReportDocument>, columns: Of): Arrays<Of> {
    return Object.fromEntries(Object.entries(columns).map(([key, ref]) => [key, payload.section(ref)])) as Arrays<Of>;
}

function readRanks(payload: Payload<ReportDocument>): RankRow[] {
    const { document } = payload;
    const columns = arraysOf(payload, document.ranks);
    const at = (key: keyof typeof columns, index: number) => known(columns[key][index]);
    const text = (texts: readonly string[], index: number | null) => (index === null ? null : (texts[index] ?? null));
    return Array.from(columns.rank, (rank, index) => ({
        index,
        rank,
        host: text(document.hosts, at("host", index)),
        gpu: at("gpu", index),
        class: at("class", index) ?? 0,
        role: columns.role[index]!,
        flags: columns.flags[index]!,
        source: text(document.sources, at("source", index)),
        calls: at("calls", index),
        pending: at("pending", index),
        group: at("group", index),
        seq: at("seq", index),
        signature: at("signature", index),
        stack: at("stack", index),
        state: columns.state[index]!,
        since: at("since", index),
        finished: at("finished", index),
        late: at("late", index),
        last: at("last", index),
    }));
}

/** Cells become severities in place: there may be thirty million. */
function severitiesOf(cells: Section): Uint8Array {
    for (let at = 0; at < cells.length; at++) {
        cells[at] = severityOfCell[cells[at]!]!;
    }
    return cells as Uint8Array;
}

const KIND_WORDS = ["", " · sends and receives", ""] as const;

function matrixLabel(document: ReportDocument, group: number | null, kind: MatrixKind): string {
    if (kind === MatrixKind.Overall || group === null) {
        return "all calls, all groups";
    }
    const { label, size } = document.groups[group]!;
    return `${label} · ${size} ranks${KIND_WORDS[kind]}`;
}

function matrixReader(payload: Payload<ReportDocument>) {
    const { document } = payload;
    const matrices = arraysOf(payload, document.matrices);
    const sets = arraysOf(payload, document.column_sets);
    const column = arraysOf(payload, document.column);
    const member = arraysOf(payload, document.members);
    const rowAt = payload.section(document.rows.at);
    const tailColumns = arraysOf(payload, document.tail_columns);
    const tailAt = payload.section(document.tail_rows.at);
    const after = payload.section(document.tail_after);
    const lasted = payload.section(document.tail_lasted);
    const severities = severitiesOf(payload.section(document.cells));

    const labelOf = (index: number) => matrixLabel(document, known(matrices.group[index]), matrices.kind[index]!);
    const read = (index: number): Matrix => {
        const set = matrices.columns[index]!;
        const firstColumn = sets.first[set]!;
        const columns = sets.count[set]!;
        const firstMember = matrices.first_member[index]!;
        const members = matrices.members[index]!;
        const tail = matrices.tail[index]!;
        const group = known(matrices.group[index]);
        const views = new Map<number, Uint8Array>();
        const tailOf = (at: number) => (at >= columns - tail && at < columns ? at - (columns - tail) : null);
        return {
            index,
            group: group === null ? null : document.groups[group]!,
            groupIndex: group,
            kind: matrices.kind[index]!,
            label: labelOf(index),
            columns,
            hang: known(matrices.hang[index]),
            tail,
            members,
            rankOf: (at) => member.rank[firstMember + at]!,
            numberOf: (at) => column.number[firstColumn + at]!,
            signatureOf: (at) => document.signatures[column.signature[firstColumn + at]!] ?? null,
            rowOf: (at) => {
                const from = rowAt[member.row[firstMember + at]!]!;
                const found = views.get(from) ?? severities.subarray(from, from + columns);
                views.set(from, found);
                return found;
            },
            columnTimes: (at) => {
                const inTail = tailOf(at);
                const row = inTail === null ? -1 : matrices.first_tail_column[index]! + inTail;
                const first = known(tailColumns.first[row]);
                return first === null ? null : { first, late: known(tailColumns.late[row]), last: known(tailColumns.last[row]) };
            },
            exact: (of, at) => {
                const inTail = tailOf(at);
                const tailRow = known(member.tail[firstMember + of]);
                if (inTail === null || tailRow === null) {
                    return null;
                }
                const from = tailAt[tailRow]! + inTail;
                const first = known(tailColumns.first[matrices.first_tail_column[index]! + inTail]);
                const late = known(after[from]);
                return { made: first === null || late === null ? null : first + late * 1000, lastedUs: known(lasted[from]) || null };
            },
        };
    };
    const kindOf = (group: number | null) => (group === null ? "the whole job" : (document.kinds[document.groups[group]!.kind] ?? "groups"));
    const options = Array.from(matrices.group, (group, index) => ({ index, label: labelOf(index), kind: kindOf(known(group)) }));
    return { read, count: matrices.group.length, options };
}

function recordReader(payload: Payload<ReportDocument>): (rankRow: number) => Record[] {
    const columns = arraysOf(payload, payload.document.records);
    const { rank } = columns;
    return (rankRow) => {
        const first = rank.indexOf(rankRow);
        const found: Record[] = [];
        for (let at = first; first >= 0 && at < rank.length && rank[at] === rankRow; at++) {
            found.push({
                group: known(columns.group[at]),
                record: columns.record[at]!,
                seq: known(columns.seq[at]),
                p2p: known(columns.p2p[at]),
                signature: known(columns.signature[at]),
                stack: known(columns.stack[at]),
                state: columns.state[at]!,
                created: known(columns.created[at]),
                lastedUs: columns.lasted[at]!,
                durationMs: known(columns.duration[at]),
            });
        }
        return found;
    };
}

export function makeJob(payload: Payload<ReportDocument>): Job {
    const { document } = payload;
    const ranks = readRanks(payload);
    const matrices = matrixReader(payload);
    const read = new Map<number, Matrix>();
    const origin = BigInt(document.origin_ns ?? "0");
    return {
        document,
        ranks,
        rowOfRank: new Map(ranks.map(({ rank, index }) => [rank, index])),
        classes: document.classes,
        matrixCount: matrices.count,
        matrixOptions: matrices.options,
        matrix: (index) => {
            if (!read.has(index)) {
                read.set(index, matrices.read(index));
            }
            return read.get(index)!;
        },
        hostsAreShort: new Set(document.hosts.map((host) => host.split(".", 1)[0])).size === document.hosts.length && !document.hosts.some((host) => /^[\d.]+$/.test(host)),
        recordsOf: recordReader(payload),
        timeOf: (offset) => (offset === null || origin === 0n ? null : origin + BigInt(Math.round(offset))),
    };
}

export const ROLES = ["", "culprit", "waits", "waits elsewhere", "done", "unknown"] as const;

export function stackFrames(job: Job, stack: number | null): Frame[] {
    return stack === null ? [] : (job.document.stacks[stack] ?? []).map((frame) => job.document.frames[frame]!);
}

const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

export const frameText = ({ file, line, function: name }: Frame): string => `${fileName(file)}:${line} ${name}`;

/** The call site in one line: frames of the user's own code first, if there are any. */
export function stackText(job: Job, stack: number | null, most = 3): string {
    const frames = stackFrames(job, stack);
    const own = frames.filter(({ user }) => user);
    return (own.length > 0 ? own : frames).slice(0, most).map(frameText).join(" ‹ ");
}

export function callText(signature: Signature | null, number: number | null, group: string | null): string {
    const name = signature?.op ?? "call";
    return `${name}${number === null ? "" : ` #${number}`}${group === null ? "" : ` of ${group}`}`;
}

export function sizeText(signature: Signature | null): string {
    if (signature === null || signature.numel_in === null) {
        return "";
    }
    const out = signature.numel_out !== null && signature.numel_out !== signature.numel_in ? ` → ${signature.numel_out}` : "";
    return `${signature.numel_in}${out} × ${signature.dtype ?? "?"}`;
}

/** Where the ranks of a class stand, in a line. */
export function whereText({ where }: Class): string {
    return (where ?? "nothing known of it").replace(/ {2,}/g, " ");
}
