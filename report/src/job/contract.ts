// The document of a report as it stands in the file; docs/formats/report-data.md says what each field means.
import type { SectionRef } from "../shared/payload.js";

export const NONE = 0xffffffff;

type Columns<Key extends string> = Record<Key, SectionRef>;

export interface Culprit {
    rank: number | null;
    host: string | null;
    gpu: number | null;
    bus_id: string | null;
    role: string;
}

export interface Evidence {
    source: string;
    line: number | null;
    record: number | null;
    offset: number | null;
    rank: number | null;
    excerpt: string | null;
}

export interface Finding {
    code: string;
    severity: "error" | "warning" | "note";
    title: string;
    detail: string;
    ranks: number[];
    evidence: Evidence[];
    remedy: string[];
}

export interface Operation {
    group: string | null;
    group_name: string | null;
    group_size: number | null;
    seq: number | null;
    op: string | null;
    src: number | null;
    dst: number | null;
    numel_in: number | null;
    numel_out: number | null;
    dtype: string | null;
}

export interface Coverage {
    world_size: number | null;
    ranks_with_logs: number[];
    ranks_with_dumps: number[];
    ranks_silent: number[];
    bounds: { rank: number; group: string; entered: number | null; not_past: number | null }[];
    attempts: { id: number; ranks: number[]; from: string | null; to: string | null; code: string }[];
    sources: { path: string; format: string | null; records: number; diagnostics: number; standing: string }[];
}

export interface VerdictDocument {
    verdict: {
        code: string;
        cause: string | null;
        confidence: "low" | "medium" | "high";
        action: string;
        summary: string;
        culprits: Culprit[];
        operation: Operation | null;
        waiting_ranks: number[];
        hang_began: string | null;
        hang_began_ns: number | null;
    };
    alternatives: { code: string; confidence: string; culprits: Culprit[]; why: string }[];
    findings: Finding[];
    next_steps: string[];
    coverage: Coverage;
}

export interface Class {
    ranks: string;
    count: number;
    role: number;
    culprit: boolean;
    where: string | null;
    /** In so many groups of one kind they stand; `where` names one of them. */
    groups?: number;
    stack: number | null;
    stack_text: string | null;
    host?: string | null;
    example: number;
}

export interface Signature {
    op: string;
    recorded: string | null;
    dtype: string | null;
    dtype_out: string | null;
    shape_in: string | null;
    shape_out: string | null;
    numel_in: number | null;
    numel_out: number | null;
    timeout_ms: number | null;
    src: number | null;
    dst: number | null;
}

export interface Frame {
    function: string;
    file: string;
    line: number;
    user: boolean;
}

export interface Group {
    label: string;
    name: string | null;
    desc: string | null;
    backend: string | null;
    size: number;
    kind: number;
    finished: number | null;
    proved: number | null;
    pairs?: boolean;
    assumed?: boolean;
}

export interface ArrivalRow {
    group: number;
    rank: number;
    last: number;
    of: number;
    median_late_ns: number;
    max_late_ns: number;
    bound_ns: number | null;
    habitual?: boolean;
}

export interface Clock {
    host: string | null;
    rank: number | null;
    offset_ns: number;
    bound_ns: number | null;
    ties: number;
    reference?: boolean;
    contradicted?: boolean;
}

export interface WaitEdge {
    from: number;
    to: number;
    operation: string;
    group: number | null;
    seq: number | null;
    how: string;
    waiters: number;
    holders: number;
    operations: number;
}

export interface WaitRoot {
    kind: string;
    classes: number[];
    ranks: string;
    reach: number;
    operation: string | null;
}

export interface Communicator {
    id: string | null;
    size: number | null;
    seen: number | null;
    how: string | null;
    /** The global rank, by rank in the communicator; absent when nothing tells. */
    ranks?: (number | null)[];
    rings?: { channels: string; order: number[] }[];
    transports?: { kind: string; via: string; links: number; channels: number | string }[];
}

export interface Setting {
    name: string;
    differs: boolean;
    values: { value: string; hosts: number[]; ranks: string; lines: number }[];
}

export interface ReportDocument {
    schema: string;
    tool: string;
    language: string;
    text: string;
    verdict: VerdictDocument;
    why: string | null;
    doubt: string | null;
    origin_ns: string;
    clock_zone?: boolean;
    topics: Record<string, { kind: string; severity: string | null; title: string; means: string; remedy: string | null }>;
    hosts: string[];
    sources: string[];
    ranks: Columns<
        | "rank" | "host" | "gpu" | "class" | "role" | "flags" | "source" | "calls" | "pending" | "group" | "seq"
        | "signature" | "stack" | "state" | "since" | "finished" | "late" | "last"
    >;
    classes: Class[];
    fold: "calls" | "places";
    signatures: Signature[];
    frames: Frame[];
    stacks: number[][];
    groups: Group[];
    kinds: string[];
    matrices: Columns<"group" | "kind" | "columns" | "first_member" | "members" | "hang" | "tail" | "first_tail_column">;
    column_sets: Columns<"first" | "count">;
    column: Columns<"number" | "signature">;
    members: Columns<"rank" | "row" | "tail">;
    rows: Columns<"at">;
    cells: SectionRef;
    tail_columns: Columns<"first" | "late" | "last">;
    tail_rows: Columns<"at">;
    tail_after: SectionRef;
    tail_lasted: SectionRef;
    records: Columns<
        "rank" | "group" | "record" | "seq" | "p2p" | "signature" | "stack" | "state" | "created" | "lasted" | "duration"
    >;
    record_ranks: number[];
    arrival?: { compared: number; rows: ArrivalRow[]; clocks: Clock[] } | null;
    waits?: { edges: WaitEdge[]; roots: WaitRoot[]; cycles: { classes: number[]; ranks: string; odd: string | null; groups: number[] | string[] }[] } | null;
    topology?: { communicators: Communicator[] } | null;
    environment?: Setting[] | null;
    evidence?: { finding: number; evidence: number; lines: { line: number; last?: number | null; count?: number | null; text: string }[]; at: number }[] | null;
    diagnostics?: { code: string; source: number | null; record: number | null; offset: number | null; excerpt: string | null }[] | null;
    diagnostics_total?: number;
    sql?: { ingest: string; call: string; rank: string } | null;
    left_out?: Record<string, number> | null;
}
