// What may be typed above a table: words that all have to occur, and `column:word`, `column>1`, `column<1`.

export interface Field<Row> {
    key: string;
    value: (row: Row) => string | number | null;
}

type Test<Row> = (row: Row) => boolean;

const TERM = /^([\p{L}_-]+)(:|>=?|<=?|=)(.+)$/u;

function compare(operator: string, value: number, bound: number): boolean {
    switch (operator) {
        case ">":
            return value > bound;
        case ">=":
            return value >= bound;
        case "<":
            return value < bound;
        case "<=":
            return value <= bound;
        default:
            return value === bound;
    }
}

function termTest<Row>(term: string, fields: readonly Field<Row>[]): Test<Row> {
    const parts = TERM.exec(term);
    const field = parts === null ? undefined : fields.find(({ key }) => key.toLowerCase() === parts[1]!.toLowerCase());
    if (parts !== null && field !== undefined) {
        const [, , operator, wanted] = parts as unknown as [string, string, string, string];
        const bound = Number(wanted);
        if (operator !== ":" && Number.isFinite(bound)) {
            return (row) => {
                const value = field.value(row);
                return typeof value === "number" && compare(operator, value, bound);
            };
        }
        return (row) => String(field.value(row) ?? "").toLowerCase().includes(wanted.toLowerCase());
    }
    const word = term.toLowerCase();
    return (row) => fields.some((each) => String(each.value(row) ?? "").toLowerCase().includes(word));
}

export function filterRows<Row>(rows: readonly Row[], fields: readonly Field<Row>[], text: string): readonly Row[] {
    const tests = text.split(/\s+/).filter(Boolean).map((term) => termTest(term, fields));
    return tests.length === 0 ? rows : rows.filter((row) => tests.every((test) => test(row)));
}

export type Direction = "ascending" | "descending";

/** Rows in the order of a field; null comes last either way, and equal rows keep their order. */
export function sortRows<Row>(rows: readonly Row[], field: Field<Row>, direction: Direction): readonly Row[] {
    const sign = direction === "ascending" ? 1 : -1;
    const texts = new Intl.Collator("en", { numeric: true });
    return [...rows].sort((left, right) => {
        const a = field.value(left);
        const b = field.value(right);
        if (a === null || b === null) {
            return a === b ? 0 : a === null ? 1 : -1;
        }
        return sign * (typeof a === "number" && typeof b === "number" ? a - b : texts.compare(String(a), String(b)));
    });
}
