// What else was found, each with its evidence and what may help.
import { plural, rankList } from "../shared/format.js";
import type { Finding } from "./contract.js";
import { EvidenceLine } from "./evidence.js";
import type { Job } from "./model.js";

const TONES = { error: "error", warning: "warning", note: "" } as const;

function FindingItem({ job, finding, index }: { job: Job; finding: Finding; index: number }) {
    return (
        <details class="card finding" id={`finding-${index}`}>
            <summary>
                <span class={`chip ${TONES[finding.severity]}`}>{finding.severity}</span>
                <strong>{finding.title}</strong>
                <span class="quiet">{finding.code}</span>
                {finding.ranks.length > 0 && (
                    <span class="quiet">
                        {finding.ranks.length === 1 ? "rank" : plural(finding.ranks.length, "rank")} {rankList(finding.ranks, 4)}
                    </span>
                )}
            </summary>
            <p>
                <bdi>{finding.detail}</bdi>
            </p>
            <ul class="evidence">
                {finding.evidence.map((item, at) => (
                    <EvidenceLine key={at} job={job} item={item} finding={index} index={at} />
                ))}
            </ul>
            {finding.remedy.length > 0 && (
                <ul class="next">
                    {finding.remedy.map((line, at) => (
                        <li key={at}>
                            <bdi>{line}</bdi>
                        </li>
                    ))}
                </ul>
            )}
        </details>
    );
}

export function Findings({ job }: { job: Job }) {
    return (
        <div class="stack-list">
            {job.document.verdict.findings.map((finding, index) => (
                <FindingItem key={index} job={job} finding={finding} index={index} />
            ))}
        </div>
    );
}
