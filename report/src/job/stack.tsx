// The frames of a stack, innermost first; those of libraries are quieter.
import { frameText, stackFrames, type Job } from "./model.js";

export function Stack({ job, stack }: { job: Job; stack: number }) {
    return (
        <ol class="stack">
            {stackFrames(job, stack).map((frame, index) => (
                <li key={index} class={frame.user ? "" : "quiet"} title={`${frame.file}:${frame.line}`}>
                    <bdi>{frameText(frame)}</bdi>
                </li>
            ))}
        </ol>
    );
}
