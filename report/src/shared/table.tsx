// A table of any length: only the rows in sight are elements. Sorted by its headers, filtered by a line of
// text, walked by keys. The state lives in the address, so that a link shows the same rows.
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { filterRows, sortRows, type Direction, type Field } from "./filter.js";
import { count } from "./format.js";
import { note, valueOf } from "./place.js";

const ROW_PX = 28;
const MARGIN_ROWS = 12;
const PRINTED_ROWS = 400;

export interface Column<Row> extends Field<Row> {
    title: string;
    /** A track of CSS grid: "5rem", "minmax(8rem, 1fr)". */
    width: string;
    cell?: (row: Row) => ComponentChildren;
    end?: boolean;
    hint?: string;
}

/** What a track needs at least, in rems. */
const leastOf = ({ width }: { width: string }): number => Number.parseFloat(width.replace("minmax(", ""));

/** Tracks of all rows: as wide as they need and the table scrolls; on paper shares of what there is. */
function tracksOf(columns: readonly { width: string }[], isOnPaper: boolean): { gridTemplateColumns: string; minWidth: string } {
    if (isOnPaper) {
        return { gridTemplateColumns: columns.map((column) => `minmax(0, ${leastOf(column)}fr)`).join(" "), minWidth: "0" };
    }
    const least = columns.reduce((sum, column) => sum + leastOf(column), columns.length + 1);
    return { gridTemplateColumns: columns.map(({ width }) => width).join(" "), minWidth: `${least}rem` };
}

/** Texts may be cut to fit their column: the whole shows on hovering. */
const textOf = (value: string | number | null): string | undefined => (typeof value === "string" ? value : undefined);

const isEmpty = (value: string | number | null): boolean => value === null || value === "" || value === 0;

interface TableProps<Row> {
    /** Names the table in the address and for screen readers. */
    name: string;
    label: string;
    rows: readonly Row[];
    columns: readonly Column<Row>[];
    rowKey: (row: Row) => string;
    rowClass?: (row: Row) => string;
    onOpen?: (row: Row) => void;
    placeholder?: string;
    maxRows?: number;
    /** Keys of columns that are left out when no row has anything in them. */
    mayHide?: readonly string[];
}

export function Table<Row>(props: TableProps<Row>) {
    const { name, label, rows, rowKey, onOpen, maxRows = 16 } = props;
    const columns = useMemo(
        () => props.columns.filter(({ key, value }) => !props.mayHide?.includes(key) || rows.some((row) => !isEmpty(value(row)))),
        [props.columns, rows],
    );
    const scroller = useRef<HTMLDivElement>(null);
    const top = useSignal(0);
    const height = useSignal(maxRows * ROW_PX);
    const active = useSignal(-1);
    const printing = useSignal(false);

    const filterText = valueOf(`${name}.filter`);
    const [sortKey = "", sortDirection = "ascending"] = valueOf(`${name}.sort`).split("!") as [string?, Direction?];
    const field = columns.find(({ key }) => key === sortKey);
    const input = useSignal({ rows, columns, filterText, field, sortDirection });
    const before = input.peek();
    if (before.rows !== rows || before.filterText !== filterText || before.field?.key !== field?.key || before.sortDirection !== sortDirection) {
        input.value = { rows, columns, filterText, field, sortDirection };
    }
    const found = useComputed(() => {
        const { rows, columns, filterText, field, sortDirection } = input.value;
        const kept = filterRows(rows, columns, filterText);
        return field === undefined ? kept : sortRows(kept, field, sortDirection);
    });

    useEffect(() => {
        const element = scroller.current!;
        const measure = () => (height.value = element.clientHeight);
        const observer = new ResizeObserver(measure);
        observer.observe(element);
        const print = matchMedia("print");
        const change = () => (printing.value = print.matches);
        print.addEventListener("change", change);
        return () => {
            observer.disconnect();
            print.removeEventListener("change", change);
        };
    }, []);

    const shown = found.value;
    const first = printing.value ? 0 : Math.max(0, Math.floor(top.value / ROW_PX) - MARGIN_ROWS);
    const last = printing.value
        ? Math.min(shown.length, PRINTED_ROWS)
        : Math.min(shown.length, Math.ceil((top.value + height.value) / ROW_PX) + MARGIN_ROWS);
    const tracks = tracksOf(columns, printing.value);

    const sortBy = (key: string) => {
        const next = key !== sortKey ? key : sortDirection === "ascending" ? `${key}!descending` : null;
        note({ [`${name}.sort`]: next });
    };
    const move = (to: number) => {
        const index = Math.max(0, Math.min(shown.length - 1, to));
        active.value = index;
        const element = scroller.current!;
        const head = ROW_PX;
        const y = index * ROW_PX;
        if (y < element.scrollTop) {
            element.scrollTop = y;
        } else if (y + ROW_PX > element.scrollTop + element.clientHeight - head) {
            element.scrollTop = y + ROW_PX - element.clientHeight + head;
        }
    };
    const onKeyDown = (event: KeyboardEvent) => {
        const page = Math.max(1, Math.floor(height.value / ROW_PX) - 2);
        const steps: Record<string, number> = {
            ArrowDown: active.value + 1,
            ArrowUp: active.value - 1,
            PageDown: active.value + page,
            PageUp: active.value - page,
            Home: 0,
            End: shown.length - 1,
        };
        const to = steps[event.key];
        const row = shown[active.value];
        if (to !== undefined && event.target === scroller.current) {
            event.preventDefault();
            move(to);
        } else if (event.key === "Enter" && event.target === scroller.current && row !== undefined && onOpen) {
            event.preventDefault();
            onOpen(row);
        }
    };

    return (
        <div class="table">
            <div class="table-bar">
                <input
                    type="search"
                    class="filter"
                    aria-label={`Filter ${label}`}
                    placeholder={props.placeholder ?? "filter: words, column:word, column>1"}
                    value={filterText}
                    onInput={(event) => {
                        active.value = -1;
                        scroller.current!.scrollTop = 0;
                        note({ [`${name}.filter`]: event.currentTarget.value });
                    }}
                />
                <span class="quiet" role="status">
                    {shown.length === rows.length ? count(rows.length) : `${count(shown.length)} of ${count(rows.length)}`}
                </span>
            </div>
            <div
                class="table-scroll"
                ref={scroller}
                role="grid"
                aria-label={label}
                aria-rowcount={shown.length + 1}
                aria-colcount={columns.length}
                tabIndex={0}
                aria-activedescendant={active.value >= first && active.value < last ? `${name}-${active.value}` : undefined}
                style={{ maxHeight: `${(maxRows + 1) * ROW_PX + 2}px` }}
                onScroll={(event) => (top.value = event.currentTarget.scrollTop)}
                onKeyDown={onKeyDown}
            >
                <div class="table-head" role="row" aria-rowindex={1} style={tracks}>
                    {columns.map((column) => (
                        <div
                            role="columnheader"
                            class={column.end ? "end" : ""}
                            aria-sort={column.key === sortKey ? sortDirection : "none"}
                            key={column.key}
                        >
                            <button type="button" title={column.hint ?? `sort by ${column.title}`} onClick={() => sortBy(column.key)}>
                                {column.title}
                                <span class="arrow" aria-hidden="true">
                                    {column.key === sortKey ? (sortDirection === "ascending" ? "▲" : "▼") : ""}
                                </span>
                            </button>
                        </div>
                    ))}
                </div>
                <div role="rowgroup" class="table-body" style={{ height: `${(printing.value ? last : shown.length) * ROW_PX}px`, minWidth: tracks.minWidth }}>
                    {shown.slice(first, last).map((row, offset) => {
                        const index = first + offset;
                        return (
                            <div
                                role="row"
                                id={`${name}-${index}`}
                                key={rowKey(row)}
                                aria-rowindex={index + 2}
                                aria-selected={index === active.value}
                                class={`table-row ${props.rowClass?.(row) ?? ""}`}
                                style={{ ...tracks, transform: `translateY(${index * ROW_PX}px)` }}
                                onClick={() => {
                                    active.value = index;
                                    onOpen?.(row);
                                }}
                            >
                                {columns.map((column) => (
                                    <div role="gridcell" class={column.end ? "end" : ""} title={textOf(column.value(row))} key={column.key}>
                                        {column.cell ? column.cell(row) : (column.value(row) ?? <span class="quiet">–</span>)}
                                    </div>
                                ))}
                            </div>
                        );
                    })}
                </div>
                {shown.length === 0 && <p class="empty">Nothing fits “{filterText}”.</p>}
            </div>
            {printing.value && shown.length > last && <p class="quiet">… and {count(shown.length - last)} more rows.</p>}
        </div>
    );
}
