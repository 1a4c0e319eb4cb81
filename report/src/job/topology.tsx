// How ranks are wired, as far as NCCL's log tells: rings and transports of communicators, network of hosts.
import { count, plural, shown } from "../shared/format.js";
import { Table } from "../shared/table.js";
import type { Communicator } from "./contract.js";
import type { Job } from "./model.js";

const MOST_RING = 96;

function ringText({ channels, order }: { channels: string; order: number[] }): string {
    const shownOrder = order.slice(0, MOST_RING).join(" → ");
    return `${channels}: ${shownOrder}${order.length > MOST_RING ? " …" : order.length > 1 ? ` → ${order[0]}` : ""}`;
}

function CommunicatorItem({ item }: { item: Communicator }) {
    return (
        <details class="card finding">
            <summary>
                <strong>{shown(item.label ?? "communicator")}</strong>
                {item.id !== null && <code>{item.id}</code>}
                <span class="quiet">
                    {item.size !== null && plural(item.size, "rank")}
                    {item.seen !== null && item.seen !== item.size ? `, ${item.seen} seen` : ""}
                </span>
                {(item.transports ?? []).slice(0, 3).map(({ via }) => (
                    <span class="chip" key={via}>
                        {shown(via)}
                    </span>
                ))}
            </summary>
            {(item.transports ?? []).length > 0 && (
                <table class="plain">
                    <thead>
                        <tr>
                            <th>transport</th>
                            <th class="end">links</th>
                            <th class="end">channels</th>
                        </tr>
                    </thead>
                    <tbody>
                        {item.transports!.map(({ via, links, channels }) => (
                            <tr key={via}>
                                <td>{shown(via)}</td>
                                <td class="end">{count(links)}</td>
                                <td class="end">{channels}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            )}
            {(item.rings ?? []).map((ring, at) => (
                <p key={at} class="mono ring">
                    ring {shown(ringText(ring))}
                </p>
            ))}
        </details>
    );
}

export function Topology({ job }: { job: Job }) {
    const { communicators, hosts } = job.document.topology!;
    const facts = [...new Set(hosts.flatMap((host) => Object.keys(host.facts)))].sort();
    return (
        <>
            <div class="stack-list">
                {communicators.map((item, at) => (
                    <CommunicatorItem key={at} item={item} />
                ))}
            </div>
            {hosts.length > 0 && (
                <Table
                    name="network"
                    label="facts of hosts"
                    rows={hosts}
                    rowKey={({ host }) => host}
                    maxRows={10}
                    columns={[
                        { key: "host", title: "host", width: "minmax(9rem, 14rem)", value: ({ host }) => host, cell: ({ host }) => <bdi>{shown(host)}</bdi> },
                        { key: "ranks", title: "ranks", width: "8rem", value: ({ ranks }) => ranks },
                        ...facts.map((name) => ({
                            key: name,
                            title: shown(name),
                            width: "minmax(8rem, 16rem)",
                            value: (host: (typeof hosts)[number]) => host.facts[name] ?? null,
                            cell: (host: (typeof hosts)[number]) => <bdi>{shown(host.facts[name] ?? "–")}</bdi>,
                        })),
                    ]}
                />
            )}
        </>
    );
}
