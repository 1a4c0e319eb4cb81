// A line of evidence, and the log around it on demand.
import { useSignal } from "@preact/signals";
import type { Evidence } from "./contract.js";
import type { Job } from "./model.js";

export function whereOf({ source, line, record, offset }: Evidence): string {
    if (line !== null) {
        return `${source}:${line}`;
    }
    return record !== null ? `${source} record ${record}` : offset !== null ? `${source} byte ${offset}` : source;
}

export function EvidenceLine({ job, item, finding, index }: { job: Job; item: Evidence; finding: number; index: number }) {
    const open = useSignal(false);
    const around = job.document.evidence?.find((each) => each.finding === finding && each.evidence === index);
    const where = <bdi>{whereOf(item)}</bdi>;
    return (
        <li>
            {around === undefined ? (
                <span class="where mono">{where}</span>
            ) : (
                <button type="button" class="link where mono" aria-expanded={open.value} onClick={() => (open.value = !open.value)}>
                    {open.value ? "▾ " : "▸ "}
                    {where}
                </button>
            )}
            {!open.value && item.excerpt !== null && (
                <bdi class="excerpt mono" title={item.excerpt}>{item.excerpt}</bdi>
            )}
            {open.value && around !== undefined && (
                <div class="log" role="group" aria-label="The log around" tabIndex={0}>
                    {around.lines.map(({ line, text, count }, at) => (
                        <div key={at} class={at === around.at ? "log-line marked" : "log-line"}>
                            <span class="log-number">{line}</span>
                            <bdi>{text}</bdi>
                            {count != null && count > 1 && <span class="quiet"> × {count}</span>}
                        </div>
                    ))}
                </div>
            )}
        </li>
    );
}
