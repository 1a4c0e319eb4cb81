// The page of a fleet: many jobs, what they fail of, and who is named.
import { useMemo } from "preact/hooks";
import { count, plural } from "../shared/format.js";
import { Frame } from "../shared/frame.js";
import type { Key } from "../shared/keys.js";
import { goTo, note } from "../shared/place.js";
import { fits, type Finder, type Hit } from "../shared/search.js";
import type { SectionEntry } from "../shared/section.js";
import { start } from "../shared/start.js";
import { choose, chooseAll, makeView, type View } from "./choice.js";
import type { FleetDocument } from "./contract.js";
import { Coverage } from "./coverage.js";
import { Faults } from "./faults.js";
import { Jobs } from "./jobs.js";
import { faultsOf, faultTitle, makeFleet, offendersOf, verdictsOf } from "./model.js";
import { Offenders } from "./offenders.js";
import { Chart } from "./time.js";
import { Top } from "./top.js";
import "../shared/theme.css";
import "./fleet.css";

const KEYS_HINT = "On the bars: arrows walk, Shift widens, Enter chooses, Escape takes it back. In tables: arrows, Page Up and Down, Home, End; Enter opens a row.";

function sectionsOf(view: View): SectionEntry[] {
    const { fleet } = view;
    const unjudged = fleet.jobs.filter(({ judged }) => !judged).length;
    const entries: (SectionEntry | false)[] = [
        fleet.first !== null && { id: "time", title: "Over time", aside: "verdicts, by when it happened", body: () => <Chart view={view} /> },
        fleet.faults.size > 0 && { id: "faults", title: "Faults", aside: "the same fingerprint is the same fault", body: () => <Faults view={view} /> },
        fleet.jobs.some(({ named }) => named.length > 0) && { id: "offenders", title: "Offenders", aside: "hosts, GPUs and places in the code that are named again", body: () => <Offenders view={view} /> },
        { id: "jobs", title: "Jobs", aside: plural(fleet.jobs.length, "job"), body: () => <Jobs view={view} /> },
        { id: "coverage", title: "Coverage", aside: unjudged === 0 ? "all judged" : `${count(unjudged)} not judged`, body: () => <Coverage view={view} /> },
    ];
    return entries.filter((entry) => entry !== false);
}

function findersOf(view: View): Finder[] {
    const { fleet } = view;
    const verdicts = verdictsOf(fleet.jobs);
    let faults: ReturnType<typeof faultsOf> | null = null;
    let offenders: ReturnType<typeof offendersOf> | null = null;
    return [
        function* (words): Generator<Hit> {
            for (const [verdict, jobs] of verdicts) {
                if (fits(verdict, words)) {
                    yield { kind: "verdict", title: verdict, detail: plural(jobs, "job"), go: () => (choose(view, "verdict", verdict), goTo("jobs")) };
                }
            }
        },
        function* (words): Generator<Hit> {
            faults ??= faultsOf(fleet, fleet.jobs);
            for (const { fingerprint, example, info, jobs } of faults) {
                if (fits(`${fingerprint} ${info.sketch ?? ""} ${info.place ?? ""}`, words)) {
                    yield { kind: "fault", title: faultTitle(example), detail: `${plural(jobs.length, "job")} ${info.place ?? fingerprint}`, go: () => (note({ fault: fingerprint }), goTo("faults")) };
                }
            }
        },
        function* (words): Generator<Hit> {
            offenders ??= offendersOf(fleet.jobs);
            for (const { who, jobs } of offenders) {
                if (fits(who.key, words)) {
                    yield { kind: who.kind, title: who.what, detail: plural(jobs.length, "job"), go: () => (note({ who: who.key }), goTo("jobs")) };
                }
            }
        },
        function* (words): Generator<Hit> {
            for (const { name, verdict, path } of fleet.jobs) {
                if (fits(path, words) || fits(name, words)) {
                    yield { kind: "job", title: name, detail: verdict, go: () => goTo("jobs", { job: name }) };
                }
            }
        },
    ];
}

function FleetPage({ view }: { view: View }) {
    const sections = useMemo(() => sectionsOf(view), [view]);
    const finders = useMemo(() => findersOf(view), [view]);
    const keys = useMemo<Key[]>(
        () => [
            { key: "x", title: "all jobs again", run: chooseAll },
            { key: "y", title: "copy the summary", run: () => document.getElementById("copy-summary")?.click() },
        ],
        [],
    );
    const { name, tool } = view.fleet.document;
    return (
        <Frame title={`${name} · hangscope`} tool={tool} sections={sections} keys={keys} keysHint={KEYS_HINT} finders={finders} searchHint="Search job, host, fault …">
            <Top view={view} />
        </Frame>
    );
}

void start<FleetDocument>(({ document }) => <FleetPage view={makeView(makeFleet(document))} />);
