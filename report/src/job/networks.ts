// What each host talks by, as NCCL's log tells: the network facts of the environment, a row per host.
import type { ReportDocument, Setting } from "./contract.js";

export const NETWORK_FACTS = [
    { key: "network", title: "network", width: "7rem", name: "using_network.net" },
    { key: "interface", title: "interface", width: "8rem", name: "bootstrap_if.interface" },
    { key: "address", title: "address", width: "minmax(9rem, 1fr)", name: "bootstrap_if.addr" },
    { key: "devices", title: "devices", width: "minmax(14rem, 2fr)", name: "net.device" },
    { key: "plugin", title: "plugin", width: "minmax(9rem, 1fr)", name: "NET/Plugin" },
] as const;

export interface HostNetwork {
    host: string;
    facts: readonly (string | null)[];
}

function valuesByHost(setting: Setting | undefined): Map<number, string> {
    const found = new Map<number, string[]>();
    for (const { value, hosts } of setting?.values ?? []) {
        for (const host of hosts) {
            found.set(host, [...(found.get(host) ?? []), value]);
        }
    }
    return new Map([...found].map(([host, values]) => [host, values.join(", ")]));
}

/** Hosts whose lines tell of their network; empty without such lines. */
export function networksOf({ hosts: names, environment }: Pick<ReportDocument, "hosts" | "environment">): HostNetwork[] {
    const settings = new Map((environment ?? []).map((setting) => [setting.name, setting]));
    const columns = NETWORK_FACTS.map(({ name }) => valuesByHost(settings.get(name)));
    const hosts = new Set(columns.flatMap((column) => [...column.keys()]));
    return [...hosts]
        .map((host) => ({ host: names[host] ?? "?", facts: columns.map((column) => column.get(host) ?? null) }))
        .sort((a, b) => a.host.localeCompare(b.host, "en", { numeric: true }));
}
