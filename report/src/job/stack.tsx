// The frames of a stack, innermost first; those of libraries are quieter.
import { shown } from "../shared/format.js";
import { frameText, stackFrames, type Job } from "./model.js";

export function Stack({ job, stack }: { job: Job; stack: number }) {
    return (
        <ol class="stack">
            {stackFrames(job, stack).map((frame, index) => (
                <li key={index} class={frame.user ? "" : "quiet"} title={shown(`${frame.file}:${frame.line}`)}>
                    <bdi>{shown(frameText(frame))}</bdi>
                </li>
            ))}
        </ol>
    );
}
