// One box that finds anything on the page: "/" goes there, arrows choose, Enter goes to what is chosen.
import { useComputed, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

const MOST_HITS = 12;

export interface Hit {
    kind: string;
    title: string;
    detail?: string;
    go: () => void;
}

/** Yields what fits the words, all in lower case; it is asked for no more than a few. */
export type Finder = (words: readonly string[]) => Iterable<Hit>;

export function fits(text: string, words: readonly string[]): boolean {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
}

function* all(finders: readonly Finder[], text: string): Generator<Hit> {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) {
        return;
    }
    for (const find of finders) {
        let left = MOST_HITS / 2;
        for (const hit of find(words)) {
            yield hit;
            if (--left === 0) {
                break;
            }
        }
    }
}

export const SEARCH_ID = "search";

export function focusSearch(): void {
    document.getElementById(SEARCH_ID)?.focus();
}

export function Search({ finders, placeholder }: { finders: readonly Finder[]; placeholder: string }) {
    const text = useSignal("");
    const open = useSignal(false);
    const chosen = useSignal(0);
    const box = useRef<HTMLDivElement>(null);
    const hits = useComputed(() => [...all(finders, text.value)].slice(0, MOST_HITS));
    const showing = open.value && text.value.trim() !== "";

    const take = (hit: Hit | undefined) => {
        if (hit !== undefined) {
            open.value = false;
            box.current?.querySelector("input")?.blur();
            hit.go();
        }
    };
    const onKeyDown = (event: KeyboardEvent) => {
        const size = Math.max(1, hits.value.length);
        if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            chosen.value = (chosen.value + (event.key === "ArrowDown" ? 1 : size - 1)) % size;
        } else if (event.key === "Enter") {
            take(hits.value[chosen.value]);
        } else if (event.key === "Escape") {
            text.value = "";
            box.current?.querySelector("input")?.blur();
        }
    };

    return (
        <div class="search" ref={box} onFocusOut={(event) => !box.current?.contains(event.relatedTarget as Node | null) && (open.value = false)}>
            <input
                id={SEARCH_ID}
                type="text"
                class="field"
                autocomplete="off"
                spellcheck={false}
                role="combobox"
                aria-label="Search the report"
                aria-expanded={showing}
                aria-controls="search-hits"
                aria-autocomplete="list"
                aria-activedescendant={showing && hits.value.length > 0 ? `search-hit-${chosen.value}` : undefined}
                placeholder={placeholder}
                value={text.value}
                onFocus={() => (open.value = true)}
                onInput={(event) => {
                    text.value = event.currentTarget.value;
                    chosen.value = 0;
                    open.value = true;
                }}
                onKeyDown={onKeyDown}
            />
            <ul id="search-hits" role="listbox" aria-label="Found" hidden={!showing}>
                {showing &&
                    hits.value.map((hit, index) => (
                        <li
                            id={`search-hit-${index}`}
                            role="option"
                            aria-selected={index === chosen.value}
                            onPointerDown={(event) => event.preventDefault()}
                            onClick={() => take(hit)}
                        >
                            <span class="kind">{hit.kind}</span>
                            <span class="hit-title">{hit.title}</span>
                            {hit.detail !== undefined && <span class="quiet hit-detail">{hit.detail}</span>}
                        </li>
                    ))}
                {showing && hits.value.length === 0 && (
                    <li role="option" aria-selected={false} aria-disabled="true" class="quiet">
                        nothing found
                    </li>
                )}
            </ul>
        </div>
    );
}
