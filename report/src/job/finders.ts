// What the search box finds: ranks, hosts, calls of the program, groups, findings, files.
import { plural, rankList } from "../shared/format.js";
import { goTo, note, reveal } from "../shared/place.js";
import { fits, type Finder, type Hit } from "../shared/search.js";
import { standsIn } from "./ranks.js";
import { goToRank, verdictMatrix, type MatrixState } from "./matrix/state.js";
import { stackText, type Job } from "./model.js";
import { stacksOf } from "./stacks.js";

function filterRanks(filter: string): void {
    note({ "ranks.filter": filter });
    goTo("ranks");
}

function open(id: string): void {
    const element = document.getElementById(id);
    if (element instanceof HTMLDetailsElement) {
        element.open = true;
    }
    reveal(id);
}

export function findersOf(job: Job, state: MatrixState): Finder[] {
    const { document } = job;
    return [
        function* (words): Generator<Hit> {
            const number = words.length <= 2 ? Number(words.at(-1)!.replace(/^rank/, "")) : NaN;
            const row = job.rowOfRank.get(number);
            if (row !== undefined && (words.length === 1 || words[0] === "rank")) {
                const rank = job.ranks[row]!;
                yield { kind: "rank", title: `rank ${rank.rank}`, detail: `${rank.host ?? ""} ${standsIn(job, rank)}`, go: () => goToRank(state, rank.rank) };
            }
        },
        function* (words): Generator<Hit> {
            for (const host of document.hosts) {
                if (fits(host, words)) {
                    const ranks = job.ranks.filter((each) => each.host === host).map(({ rank }) => rank);
                    yield { kind: "host", title: host, detail: `${plural(ranks.length, "rank")}: ${rankList(ranks, 3)}`, go: () => filterRanks(`host:${host}`) };
                }
            }
        },
        function* (words): Generator<Hit> {
            for (const { index, label } of job.matrixOptions) {
                if (fits(label, words)) {
                    yield { kind: "calls of", title: label, go: () => goTo("matrix", { m: index === verdictMatrix(job) ? null : `${index}` }) };
                }
            }
        },
        function* (words): Generator<Hit> {
            for (const { stack, ranks } of stacksOf(job)) {
                const text = stackText(job, stack, 12);
                if (fits(text, words)) {
                    yield { kind: "program", title: stackText(job, stack), detail: plural(ranks.length, "rank"), go: () => (goTo("stacks"), open(`stack-${stack}`)) };
                }
            }
        },
        function* (words): Generator<Hit> {
            for (const [index, { title, code, detail }] of document.verdict.findings.entries()) {
                if (fits(`${title} ${code} ${detail}`, words)) {
                    yield { kind: "finding", title: title, detail: code, go: () => (goTo("findings"), open(`finding-${index}`)) };
                }
            }
        },
        function* (words): Generator<Hit> {
            for (const { finding, lines } of document.evidence ?? []) {
                const found = lines.find(({ text }) => fits(text, words));
                if (found !== undefined) {
                    yield { kind: "log line", title: found.text, go: () => (goTo("findings"), open(`finding-${finding}`)) };
                }
            }
        },
        function* (words): Generator<Hit> {
            for (const { path, standing } of document.verdict.coverage.sources) {
                if (fits(path, words)) {
                    yield { kind: "file", title: path, detail: standing, go: () => (note({ "files.filter": path }), goTo("coverage")) };
                }
            }
        },
    ];
}
