// What is known of the cell under the cursor: in a line while hovering, in a panel once it is pinned.
import { clockText } from "../clock.js";
import { CopyButton } from "../../shared/copy.js";
import { plural, rankList, span } from "../../shared/format.js";
import { callText, MatrixKind, sizeText, type ExactTimes, type Job, type Matrix, type RankRow, type Record } from "../model.js";
import { Stack } from "../stack.js";
import { cellOfSeverity, STATES, stateName, stateOf, STEPS, stepOf } from "./cell.js";
import { StateIcon } from "./icon.js";
import { severityAt } from "./plane.js";
import type { MatrixRow } from "./rows.js";
import type { Cursor, MatrixState } from "./state.js";

interface Inspected {
    row: MatrixRow;
    cell: number;
    number: number;
    call: string;
    rank: RankRow;
    member: number;
}

function inspect(state: MatrixState, { row: at, column, rank: asked }: Cursor): Inspected | null {
    const matrix = state.matrix.value;
    const row = state.rows.value[at];
    if (row === undefined || column >= matrix.columns) {
        return null;
    }
    const rankOf = (member: number) => state.job.ranks[matrix.rankOf(member)]!;
    const member = row.members.find((each) => rankOf(each).rank === asked) ?? row.members[0]!;
    const number = matrix.numberOf(column);
    return {
        row,
        cell: cellOfSeverity[severityAt(state.plane.value, at, column)]!,
        number,
        call: callText(matrix.signatureOf(column), number, matrix.group?.label ?? null),
        rank: rankOf(member),
        member,
    };
}

export function stateText(cell: number): string {
    const title = STATES[stateOf(cell)]!.title;
    return stepOf(cell) === 0 ? title : `${title}, ${STEPS[stepOf(cell)]} after the first`;
}

/** "rank 3 · ALLREDUCE #943 of default_pg · hung" */
export function cellLine(state: MatrixState, cursor: Cursor): string {
    const found = inspect(state, cursor);
    return found === null ? "" : `${found.row.label.trim()} · ${found.call} · ${stateText(found.cell)}`;
}

function recordOf(job: Job, matrix: Matrix, rank: RankRow, number: number): Record | null {
    const records = job.recordsOf(rank.index);
    if (matrix.kind === MatrixKind.Overall) {
        return records.find(({ record }) => record === number) ?? null;
    }
    const key = matrix.kind === MatrixKind.Pairs ? "p2p" : "seq";
    return records.find((record) => record.group === matrix.groupIndex && record[key] === number) ?? null;
}

/** Commands that give what this file has no room for. */
function sqlLines(job: Job, matrix: Matrix, rank: number, number: number): string | null {
    const { sql } = job.document;
    if (sql == null) {
        return null;
    }
    const name = matrix.group?.name ?? null;
    const query = matrix.kind === MatrixKind.Collectives && name !== null && isPlain(name) ? sql.call.replace("{group}", name) : sql.rank;
    return `${sql.ingest}\n${query.replace("{rank}", `${rank}`).replace("{seq}", `${number}`)}`;
}

/** Names of a stranger stand in a command only if they mean nothing to a shell. */
const isPlain = (name: string): boolean => /^[\w.:@%+=/, -]+$/.test(name);

function stackOf(record: Record | null, rank: RankRow, matrix: Matrix, number: number): number | null {
    const standsHere = matrix.kind === MatrixKind.Collectives && rank.group === matrix.groupIndex && rank.seq === number;
    return record?.stack ?? (standsHere ? rank.stack : null);
}

function Times({ job, exact, record }: { job: Job; exact: ExactTimes | null; record: Record | null }) {
    const made = record?.created ?? exact?.made ?? null;
    const lasted = record !== null && record.lastedUs > 0 ? record.lastedUs : (exact?.lastedUs ?? null);
    return (
        <>
            {made !== null && <Fact name="made at" value={clockText(job, made)} />}
            {lasted !== null && <Fact name="took" value={span(lasted * 1000)} />}
            {record?.durationMs != null && <Fact name="on the device" value={span(record.durationMs * 1e6)} />}
        </>
    );
}

function Fact({ name, value }: { name: string; value: string }) {
    return (
        <div>
            <dt>{name}</dt>
            <dd>
                <bdi>{value}</bdi>
            </dd>
        </div>
    );
}

function ColumnFacts({ state, column }: { state: MatrixState; column: number }) {
    const matrix = state.matrix.value;
    const times = matrix.columnTimes(column);
    if (times === null) {
        return null;
    }
    return (
        <>
            <Fact name="first to come" value={clockText(state.job, times.first)} />
            {times.late !== null && times.last !== null && (
                <Fact name="last to come" value={`rank ${state.job.ranks[times.last]!.rank}, ${span(times.late)} later`} />
            )}
        </>
    );
}

export function CellPanel({ state }: { state: MatrixState }) {
    const cursor = state.cursor.value;
    const found = cursor === null ? null : inspect(state, cursor);
    if (cursor === null || found === null) {
        return (
            <aside class="cell-panel quiet" id="matrix-cell" aria-live="polite">
                Click a cell, or use the arrows, to see the call: its size, its times and where in the program it was made.
            </aside>
        );
    }
    const { job } = state;
    const matrix = state.matrix.value;
    const { row, cell, number, rank, member } = found;
    const signature = matrix.signatureOf(cursor.column);
    const record = recordOf(job, matrix, rank, number);
    const exact = matrix.exact(member, cursor.column);
    const stack = stackOf(record, rank, matrix, number);
    const sql = record === null && exact === null && stateName(cell) !== "none" ? sqlLines(job, matrix, rank.rank, number) : null;
    return (
        <aside class="cell-panel" id="matrix-cell" aria-live="polite">
            <p class="cell-title">
                <StateIcon state={stateOf(cell)} />
                <strong>
                    <bdi>{found.call}</bdi>
                </strong>
            </p>
            <dl class="facts">
                <Fact name={row.members.length === 1 ? "rank" : "ranks"} value={row.members.length === 1 ? `${rank.rank}` : `${rankList(row.members.map((each) => job.ranks[matrix.rankOf(each)]!.rank).sort((a, b) => a - b), 6)} (${plural(row.members.length, "rank")}; times of rank ${rank.rank})`} />
                {row.members.length === 1 && rank.host !== null && <Fact name="on" value={`${rank.host}${rank.gpu === null ? "" : ` gpu ${rank.gpu}`}`} />}
                <Fact name="state" value={stateText(cell)} />
                {sizeText(signature) !== "" && <Fact name="size" value={sizeText(signature)} />}
                {signature?.recorded != null && <Fact name="recorded as" value={signature.recorded} />}
                <Times job={job} exact={exact} record={record} />
                <ColumnFacts state={state} column={cursor.column} />
            </dl>
            {stack !== null && <Stack job={job} stack={stack} />}
            {sql !== null && (
                <div class="sql">
                    <p class="quiet">Exact times and stacks of this call are not in this file. The dumps have them:</p>
                    <pre tabIndex={0}>{sql}</pre>
                    <CopyButton text={sql} title="Copy" />
                </div>
            )}
        </aside>
    );
}
