// How ranks are wired, as far as NCCL's log tells: networks of hosts, rings and transports of communicators.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { count, plural, rankList } from "../shared/format.js";
import { Table, type Column } from "../shared/table.js";
import type { Communicator } from "./contract.js";
import type { Job } from "./model.js";
import { NETWORK_FACTS, networksOf, type HostNetwork } from "./networks.js";

const FEW = 12;
const MOST_RING = 96;
const MOST_CHIPS = 3;

function ringText({ ranks = [] }: Communicator, { channels, order }: { channels: string; order: number[] }): string {
    const names = order.slice(0, MOST_RING).map((rank) => ranks[rank] ?? rank);
    return `${channels}: ${names.join(" → ")}${order.length > MOST_RING ? " …" : names.length > 1 ? ` → ${names[0]}` : ""}`;
}

function viaOf({ kind, via }: { kind: string; via: string }): string {
    return via === "" ? kind : `${kind} ${via}`;
}

function CommunicatorItem({ item, times }: { item: Communicator; times: number }) {
    const { id, size, seen, ranks = [], rings = [], transports = [] } = item;
    const known = ranks.filter((rank) => rank !== null).sort((a, b) => a - b);
    return (
        <details class="card finding">
            <summary>
                <strong>{id === null ? "communicator" : <code>{id}</code>}</strong>
                <span class="quiet">
                    {size !== null && plural(size, "rank")}
                    {seen !== null && seen !== size ? `, ${count(seen)} seen` : ""}
                    {known.length > 0 && `: ${rankList(known, 6)}`}
                </span>
                {times > 1 && <span class="quiet">× {count(times)} alike</span>}
                {transports
                    .filter(({ via }) => via !== "")
                    .slice(0, MOST_CHIPS)
                    .map((each) => (
                        <span class="chip" key={viaOf(each)}>
                            {each.via}
                        </span>
                    ))}
            </summary>
            {transports.length > 0 && (
                <table class="plain">
                    <thead>
                        <tr>
                            <th>connections</th>
                            <th class="end">links</th>
                            <th class="end">channels</th>
                        </tr>
                    </thead>
                    <tbody>
                        {transports.map((each) => (
                            <tr key={viaOf(each)}>
                                <td>{viaOf(each)}</td>
                                <td class="end">{count(each.links)}</td>
                                <td class="end">{each.channels}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
            {rings.map((ring, at) => (
                <p key={at} class="mono ring">
                    ring {ringText(item, ring)}
                </p>
            ))}
        </details>
    );
}

/** Communicators of the same size and wiring, once, with how often. */
function alike(communicators: readonly Communicator[]): { item: Communicator; times: number }[] {
    const found = new Map<string, { item: Communicator; times: number }>();
    for (const item of communicators) {
        const { id, size, seen, rings, transports } = item;
        const key = JSON.stringify([id, size, seen, rings, transports]);
        const entry = found.get(key) ?? { item, times: 0 };
        entry.times++;
        found.set(key, entry);
    }
    return [...found.values()];
}

function Networks({ job }: { job: Job }) {
    const rows = useMemo(() => networksOf(job.document), [job]);
    const columns = useMemo<Column<HostNetwork>[]>(
        () => [
            { key: "host", title: "host", width: "minmax(8rem, 14rem)", value: ({ host }) => host, cell: ({ host }) => <bdi>{host}</bdi> },
            ...NETWORK_FACTS.map(({ key, title, width }, at) => ({
                key,
                title,
                width,
                value: ({ facts }: HostNetwork) => facts[at]!,
                cell: ({ facts }: HostNetwork) => <bdi>{facts[at] ?? "–"}</bdi>,
            })).filter((_, at) => rows.some(({ facts }) => facts[at] !== null)),
        ],
        [rows],
    );
    return rows.length === 0 ? null : (
        <Table name="network" label="The network of each host" rows={rows} columns={columns} rowKey={({ host }) => host} maxRows={10} />
    );
}

export function Topology({ job }: { job: Job }) {
    const all = useSignal(false);
    const communicators = useMemo(() => alike(job.document.topology?.communicators ?? []), [job]);
    const few = all.value ? communicators : communicators.slice(0, FEW);
    return (
        <>
            <Networks job={job} />
            <div class="stack-list">
                {few.map(({ item, times }, at) => (
                    <CommunicatorItem key={at} item={item} times={times} />
                ))}
            </div>
            {few.length < communicators.length && (
                <button type="button" class="link" onClick={() => (all.value = true)}>
                    {plural(communicators.length - few.length, "more communicator")}
                </button>
            )}
        </>
    );
}
