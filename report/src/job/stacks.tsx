// Stacks by identity: where ranks stand in the program, the rarest first when a few differ from many.
import { useMemo } from "preact/hooks";
import { plural, rankList } from "../shared/format.js";
import { note } from "../shared/place.js";
import { goTo } from "../shared/place.js";
import { Stack } from "./stack.js";
import type { Job } from "./model.js";

const MOST_STACKS = 60;

export interface StackGroup {
    stack: number;
    ranks: number[];
    culprit: boolean;
}

export function stacksOf(job: Job): StackGroup[] {
    const found = new Map<number, StackGroup>();
    for (const { stack, rank, role } of job.ranks) {
        if (stack !== null) {
            const group = found.get(stack) ?? { stack, ranks: [], culprit: false };
            group.ranks.push(rank);
            group.culprit ||= role === 1;
            found.set(stack, group);
        }
    }
    return [...found.values()].sort((a, b) => Number(b.culprit) - Number(a.culprit) || b.ranks.length - a.ranks.length);
}

export function Stacks({ job }: { job: Job }) {
    const groups = useMemo(() => stacksOf(job), [job]);
    return (
        <>
            <div class="stack-list">
                {groups.slice(0, MOST_STACKS).map(({ stack, ranks, culprit }) => (
                    <div class="card stack-card" key={stack} id={`stack-${stack}`}>
                        <div class="stack-who">
                            <strong>{plural(ranks.length, "rank")}</strong>
                            {culprit && <span class="chip error">culprit</span>}
                            <button
                                type="button"
                                class="link quiet"
                                title="show in the table"
                                onClick={() => {
                                    note({ "ranks.filter": ranks.length === 1 ? `rank=${ranks[0]}` : "" });
                                    goTo("ranks");
                                }}
                            >
                                {rankList(ranks, 5)}
                            </button>
                        </div>
                        <Stack job={job} stack={stack} />
                    </div>
                ))}
            </div>
            {groups.length > MOST_STACKS && <p class="quiet">{groups.length - MOST_STACKS} more stacks are left out here; the table of ranks has them.</p>}
        </>
    );
}
