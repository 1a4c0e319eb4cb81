// Which rows the matrix shows: classes of equal ranks, single ranks, or classes with some opened.
import { rankList } from "../../shared/format.js";
import type { Job, Matrix, RankRow } from "../model.js";
import { worstRow } from "./plane.js";

export const ORDERS = ["verdict", "rank", "node", "group", "lateness"] as const;
export type Order = (typeof ORDERS)[number];

export interface MatrixRow {
    key: string;
    label: string;
    detail: string;
    /** Members of the matrix, the first of them the example. */
    members: readonly number[];
    class: number;
    culprit: boolean;
    isClass: boolean;
    isOpen: boolean;
}

interface Entry {
    member: number;
    rank: RankRow;
}

const texts = new Intl.Collator("en", { numeric: true });

function compare(order: Order, job: Job): (a: Entry, b: Entry) => number {
    const byRank = (a: Entry, b: Entry) => a.rank.rank - b.rank.rank;
    const groupOf = ({ rank }: Entry) => (rank.group === null ? "" : job.document.groups[rank.group]!.label);
    switch (order) {
        case "rank":
            return byRank;
        case "node":
            return (a, b) => texts.compare(a.rank.host ?? "", b.rank.host ?? "") || byRank(a, b);
        case "group":
            return (a, b) => texts.compare(groupOf(a), groupOf(b)) || byRank(a, b);
        case "lateness":
            return (a, b) => (b.rank.late ?? -1) - (a.rank.late ?? -1) || byRank(a, b);
        case "verdict":
            return (a, b) => a.rank.class - b.rank.class || byRank(a, b);
    }
}

/** The host without its domain, as long as that still tells hosts apart. */
function shortHost(job: Job, host: string | null): string {
    return host === null ? "" : job.hostsAreShort ? host.split(".", 1)[0]! : host;
}

function rankRow(job: Job, { member, rank }: Entry, inClass: boolean): MatrixRow {
    const gpu = rank.gpu === null ? "" : ` gpu ${rank.gpu}`;
    return {
        key: `r${rank.rank}`,
        label: `${inClass ? "   " : ""}rank ${rank.rank}`,
        detail: `${shortHost(job, rank.host)}${gpu}`.trim(),
        members: [member],
        class: rank.class,
        culprit: job.classes[rank.class]?.culprit === true,
        isClass: false,
        isOpen: false,
    };
}

function classRow(job: Job, index: number, entries: readonly Entry[], isOpen: boolean): MatrixRow {
    const ranks = entries.map(({ rank }) => rank.rank).sort((a, b) => a - b);
    const only = entries.length === 1 ? entries[0]!.rank : null;
    return {
        key: `c${index}`,
        label: `${only === null ? "ranks" : "rank"} ${rankList(ranks, 3)}`,
        detail: only === null ? `${entries.length} equal` : `${shortHost(job, only.host)}${only.gpu === null ? "" : ` gpu ${only.gpu}`}`.trim(),
        members: entries.map(({ member }) => member),
        class: index,
        culprit: job.classes[index]?.culprit === true,
        isClass: entries.length > 1,
        isOpen,
    };
}

export function makeRows(job: Job, matrix: Matrix, folded: boolean, order: Order, open: ReadonlySet<number>): MatrixRow[] {
    const entries = Array.from({ length: matrix.members }, (_, member) => ({ member, rank: job.ranks[matrix.rankOf(member)]! }));
    entries.sort(compare(order, job));
    if (!folded) {
        return entries.map((entry) => rankRow(job, entry, false));
    }
    const classes = new Map<number, Entry[]>();
    for (const entry of entries) {
        const found = classes.get(entry.rank.class);
        if (found === undefined) {
            classes.set(entry.rank.class, [entry]);
        } else {
            found.push(entry);
        }
    }
    return [...classes].flatMap(([index, members]) => {
        const isOpen = open.has(index) && members.length > 1;
        const head = classRow(job, index, members, isOpen);
        return isOpen ? [head, ...members.map((entry) => rankRow(job, entry, true))] : [head];
    });
}

export function cellsOf(matrix: Matrix, { members }: MatrixRow): Uint8Array {
    if (members.length === 1) {
        return matrix.rowOf(members[0]!);
    }
    const distinct = new Set(members.map((member) => matrix.rowOf(member)));
    return distinct.size === 1 ? [...distinct][0]! : worstRow(distinct, matrix.columns);
}
