// The parts of the pages that need no browser, each against a plain way to say the same.
import assert from "node:assert/strict";
import { cellOfSeverity, severityOfCell, stateName, STATES } from "../../report/src/job/matrix/cell.js";
import { makePlane, worstOfRows, worstRow } from "../../report/src/job/matrix/plane.js";
import { rasterise } from "../../report/src/job/matrix/raster.js";
import { centred, fitting, kept, revealing, zoomed, type Extent } from "../../report/src/job/matrix/view.js";
import { networksOf } from "../../report/src/job/networks.js";
import { filterRows, sortRows, type Field } from "../../report/src/shared/filter.js";
import { rankList, ranksOf, shown, span } from "../../report/src/shared/format.js";

let seed = 7;
/** The next of a fixed series of numbers below a bound. */
function next(bound: number): number {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * bound);
}

function someRows(rows: number, columns: number): Uint8Array[] {
    const distinct = Array.from({ length: Math.max(1, rows >> 2) }, () => Uint8Array.from({ length: columns }, () => (next(40) === 0 ? next(60) : 6)));
    return Array.from({ length: rows }, () => distinct[next(distinct.length)]!);
}

const worstOf = (rows: readonly Uint8Array[], columns: readonly number[]): number => Math.max(0, ...rows.flatMap((row) => columns.map((column) => row[column]!)));
const upTo = (first: number, end: number): number[] => Array.from({ length: end - first }, (_, at) => first + at);

const checks: Record<string, () => void> = {
    "every cell survives as a severity"() {
        for (const state of STATES.keys()) {
            for (let step = 0; step < 6; step++) {
                const cell = state | (step << 4);
                assert.equal(cellOfSeverity[severityOfCell[cell]!], cell);
            }
        }
    },

    "what few ranks did not do outranks what hundreds wait in"() {
        const order = ["completed", "passed", "unknown", "made", "started", "scheduled", "hung", "mismatch", "missing"];
        const severities = order.map((name) => severityOfCell[STATES.findIndex((state) => state.name === name)]!);
        assert.deepEqual(severities, [...severities].sort((a, b) => a - b));
        assert.ok(severityOfCell[0x51]! < severityOfCell[8]!, "a late call is still completed");
        assert.equal(stateName(0x0f), "unknown");
    },

    "coarser rows hold the worst of those below"() {
        for (const rows of [1, 3, 64, 65, 300, 1025]) {
            const all = someRows(rows, 23);
            const plane = makePlane(all, 23);
            assert.deepEqual(plane.overview, worstRow(all, 23));
            const line = new Uint8Array(9);
            for (let tries = 0; tries < 40; tries++) {
                const from = next(rows);
                const to = from + 1 + next(rows - from);
                worstOfRows(plane, from, to, 5, line);
                const exact = upTo(5, 14).map((column) => worstOf(all.slice(from, to), [column]));
                assert.ok(line.every((value, at) => value >= exact[at]!), "never milder than the rows");
                if (to - from < 4) {
                    assert.deepEqual([...line], exact);
                }
            }
        }
    },

    "a pixel shows the worst of its cells, and none is lost"() {
        const [rows, columns, width, height] = [700, 900, 130, 90];
        const all = Array.from({ length: rows }, () => new Uint8Array(columns).fill(6));
        const hidden = [next(rows), next(columns)] as const;
        all[hidden[0]]![hidden[1]] = 53;
        const plane = makePlane(all, columns);
        const colours = Uint32Array.from({ length: 256 }, (_, at) => at);
        const image = { width, height, data: new Uint8ClampedArray(width * height * 4) } as unknown as ImageData;
        rasterise(plane, fitting({ columns, rows, width, height }), colours, image, 1);
        const pixels = new Uint32Array(image.data.buffer);
        const at = pixels.indexOf(53);
        assert.ok(at >= 0);
        assert.equal(Math.floor((hidden[1] / columns) * width), at % width);
        assert.ok(Math.abs(Math.floor((hidden[0] / rows) * height) - Math.floor(at / width)) <= 1);
    },

    "zooming keeps what is under the pointer; nothing leaves the picture"() {
        const extent: Extent = { columns: 2000, rows: 16384, width: 900, height: 500 };
        let view = fitting(extent);
        for (let tries = 0; tries < 200; tries++) {
            const [px, py] = [next(900), next(500)];
            const before = [view.x + px / view.sx, view.y + py / view.sy] as const;
            const closer = zoomed(view, extent, 1.3, px, py);
            assert.ok(Math.abs(closer.x + px / closer.sx - before[0]) < 1e-6);
            assert.ok(Math.abs(closer.y + py / closer.sy - before[1]) < 1e-6);
            view = next(2) === 0 ? closer : zoomed(view, extent, 0.6, px, py);
            assert.deepEqual(view, kept(view, extent));
            assert.ok(view.x >= 0 && view.x + extent.width / view.sx <= extent.columns + 1e-6);
        }
        for (const show of [revealing, centred]) {
            const { x, y, sx, sy } = show(view, extent, 9000, 1999);
            assert.ok(x <= 1999 && 2000 <= x + extent.width / sx + 1e-6 && y <= 9000 && 9001 <= y + extent.height / sy + 1e-6);
        }
    },

    "filters and orders"() {
        const rows = [
            { rank: 10, host: "node-b" },
            { rank: 9, host: null },
            { rank: 100, host: "node-a" },
        ];
        const fields: Field<(typeof rows)[number]>[] = [
            { key: "rank", value: ({ rank }) => rank },
            { key: "host", value: ({ host }) => host },
        ];
        const ranks = (text: string) => filterRows(rows, fields, text).map(({ rank }) => rank);
        assert.deepEqual(ranks(""), [10, 9, 100]);
        assert.deepEqual(ranks("10"), [10, 100]);
        assert.deepEqual(ranks("NODE a"), [100]);
        assert.deepEqual(ranks("rank>=10 host:b"), [10]);
        assert.deepEqual(ranks("rank<10"), [9]);
        assert.deepEqual(ranks("rank=100"), [100]);
        assert.deepEqual(ranks("(unlikely["), []);
        const sorted = (key: number, direction: "ascending" | "descending") => sortRows(rows, fields[key]!, direction).map(({ rank }) => rank);
        assert.deepEqual(sorted(0, "ascending"), [9, 10, 100]);
        assert.deepEqual(sorted(1, "descending"), [10, 100, 9]);
        assert.deepEqual(sorted(1, "ascending"), [100, 10, 9]);
    },

    "a host has its network in one row, in the order of its number"() {
        const value = (value: string, ...hosts: number[]) => ({ value, hosts, ranks: "", lines: hosts.length });
        const environment = [
            { name: "net.device", differs: true, values: [value("mlx5_0:1/IB", 0, 1), value("mlx5_1:1/RoCE", 1)] },
            { name: "nccl.version", differs: false, values: [value("2.21.5", 0, 1, 2)] },
            { name: "using_network.net", differs: true, values: [value("Socket", 0)] },
        ];
        assert.deepEqual(networksOf({ hosts: ["node-10", "node-9", "node-1"], environment }), [
            { host: "node-9", facts: [null, null, null, "mlx5_0:1/IB, mlx5_1:1/RoCE", null] },
            { host: "node-10", facts: ["Socket", null, null, "mlx5_0:1/IB", null] },
        ]);
        assert.deepEqual(networksOf({ hosts: ["node-1"], environment: null }), []);
    },

    "words"() {
        assert.equal(rankList([0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        assert.equal(rankList([0, 2, 4, 6], 2), "0, 2 …");
        assert.deepEqual([...ranksOf("0-2, 5, 7, 8")], [0, 1, 2, 5, 7, 8]);
        assert.equal(span(0), "0 ns");
        assert.equal(span(4_200_000), "4.20 ms");
        assert.equal(span(61e9), "1 min 1 s");
        assert.equal(span(3_660e9), "1 h 1 min");
        assert.equal(shown("a\u202eb\u0007\ttab\nline"), "a⟨202e⟩b␇\ttab\nline");
    },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
    try {
        check();
        console.log(`ok      ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAILED  ${name}\n${(error as Error).stack}`);
    }
}
process.exit(failed === 0 ? 0 : 1);
