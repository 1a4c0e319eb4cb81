// Settings and versions by host: what differs comes first.
import { useSignal } from "@preact/signals";
import { plural, shown } from "../shared/format.js";
import type { Job } from "./model.js";

const MOST_HOSTS = 4;

export function Environment({ job }: { job: Job }) {
    const all = useSignal(false);
    const entries = job.document.environment!;
    const differing = entries.filter(({ differs }) => differs);
    const shownEntries = all.value || differing.length === 0 ? entries : differing;
    return (
        <>
            <div class="card wide">
                <table class="plain">
                    <thead>
                        <tr>
                            <th>name</th>
                            <th>value</th>
                            <th>where</th>
                        </tr>
                    </thead>
                    <tbody>
                        {shownEntries.flatMap(({ name, differs, values }) =>
                            values.map(({ value, hosts, ranks, count }, at) => (
                                <tr key={`${name}-${at}`} class={differs ? "differs" : ""}>
                                    {at === 0 && (
                                        <th scope="rowgroup" rowSpan={values.length}>
                                            <code>{shown(name)}</code> {differs && <span class="chip warning">differs</span>}
                                        </th>
                                    )}
                                    <td>
                                        <bdi>{shown(value)}</bdi>
                                    </td>
                                    <td class="quiet">
                                        {hosts.length > 0 && `${plural(hosts.length, "host")}: ${shown(hosts.slice(0, MOST_HOSTS).join(", "))}${hosts.length > MOST_HOSTS ? " …" : ""}`}
                                        {hosts.length === 0 && (ranks === "" ? plural(count, "time") : `ranks ${ranks}`)}
                                    </td>
                                </tr>
                            )),
                        )}
                    </tbody>
                </table>
            </div>
            {differing.length > 0 && entries.length > differing.length && (
                <button type="button" class="link" aria-expanded={all.value} onClick={() => (all.value = !all.value)}>
                    {all.value ? "only what differs" : `${plural(entries.length - differing.length, "more name")}, the same everywhere`}
                </button>
            )}
        </>
    );
}
