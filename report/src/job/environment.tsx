// Settings and versions by host: what differs comes first.
import { useSignal } from "@preact/signals";
import { plural } from "../shared/format.js";
import type { Setting } from "./contract.js";
import type { Job } from "./model.js";

const FEW_NAMES = 12;
const FEW_VALUES = 4;
const FEW_HOSTS = 4;

function whoText(job: Job, { hosts, ranks, lines }: Setting["values"][number]): string {
    if (hosts.length > 0) {
        const names = hosts.slice(0, FEW_HOSTS).map((host) => job.document.hosts[host] ?? "?");
        return `${hosts.length > 1 ? `${plural(hosts.length, "host")}: ` : ""}${names.join(", ")}${hosts.length > FEW_HOSTS ? " …" : ""}`;
    }
    return ranks === "" ? plural(lines, "line") : `ranks ${ranks}`;
}

function SettingRows({ job, setting }: { job: Job; setting: Setting }) {
    const all = useSignal(false);
    const { name, differs, values } = setting;
    const few = all.value || values.length <= FEW_VALUES + 1 ? values : values.slice(0, FEW_VALUES);
    const rows = few.length + Number(few.length < values.length);
    return (
        <tbody>
            {few.map((value, at) => (
                <tr key={at}>
                    {at === 0 && (
                        <th scope="rowgroup" rowSpan={rows}>
                            <code>{name}</code> {differs && <span class="chip warning">differs</span>}
                        </th>
                    )}
                    <td>
                        <bdi>{value.value}</bdi>
                    </td>
                    <td class="quiet">
                        <bdi>{whoText(job, value)}</bdi>
                    </td>
                </tr>
            ))}
            {few.length < values.length && (
                <tr>
                    <td colSpan={2}>
                        <button type="button" class="link" onClick={() => (all.value = true)}>
                            {plural(values.length - few.length, "more value")}
                        </button>
                    </td>
                </tr>
            )}
        </tbody>
    );
}

export function Environment({ job }: { job: Job }) {
    const all = useSignal(false);
    const settings = job.document.environment!;
    const few = all.value ? settings : settings.slice(0, FEW_NAMES);
    return (
        <>
            <div class="card wide" tabIndex={0} role="group" aria-label="Settings">
                <table class="plain settings">
                    <thead>
                        <tr>
                            <th>name</th>
                            <th>value</th>
                            <th>where</th>
                        </tr>
                    </thead>
                    {few.map((setting) => (
                        <SettingRows key={setting.name} job={job} setting={setting} />
                    ))}
                </table>
            </div>
            {few.length < settings.length && (
                <button type="button" class="link" onClick={() => (all.value = true)}>
                    {plural(settings.length - few.length, "more name")}
                </button>
            )}
        </>
    );
}
