// What every page has: the bar on top with sections and search, keys and their help, light and dark.
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { registerKeys, registeredKeys, type Key } from "./keys.js";
import { goTo, hrefOf, place, reveal } from "./place.js";
import { focusSearch, Search, type Finder } from "./search.js";
import { Section, type SectionEntry } from "./section.js";
import { theme, toggleTheme } from "./theme.js";

interface FrameProps {
    title: string;
    tool: string;
    sections: readonly SectionEntry[];
    keys: readonly Key[];
    /** The keys of what is on this page, in the help. */
    keysHint: string;
    finders: readonly Finder[];
    searchHint: string;
    children?: ComponentChildren;
}

function sectionKeys(sections: readonly SectionEntry[]): Key[] {
    return sections.slice(0, 9).map(({ id, title }, index) => ({ key: `${index + 1}`, title, run: () => goTo(id) }));
}

function Help({ hint, onClose }: { hint: string; onClose: () => void }) {
    const dialog = useRef<HTMLDialogElement>(null);
    useEffect(() => dialog.current!.showModal(), []);
    return (
        <dialog ref={dialog} aria-labelledby="help-title" onClose={onClose} onClick={(event) => event.target === dialog.current && onClose()}>
            <h2 id="help-title">Keys</h2>
            <dl class="keys">
                {registeredKeys().map(({ key, title }) => (
                    <div key={key}>
                        <dt>
                            <kbd>{key}</kbd>
                        </dt>
                        <dd>{title}</dd>
                    </div>
                ))}
            </dl>
            <p class="quiet">{hint}</p>
            <form method="dialog">
                <button class="button">Close</button>
            </form>
        </dialog>
    );
}

/** The section that is read: the last one whose head has passed the bar on top. */
function useSectionInSight(sections: readonly SectionEntry[]) {
    const inSight = useSignal(sections[0]?.id ?? "");
    useEffect(() => {
        const look = () => {
            const passed = sections.filter(({ id }) => (document.getElementById(id)?.getBoundingClientRect().top ?? Infinity) < 120);
            inSight.value = passed.at(-1)?.id ?? sections[0]?.id ?? "";
        };
        addEventListener("scroll", look, { passive: true });
        look();
        return () => removeEventListener("scroll", look);
    }, [sections]);
    return inSight;
}

export function Frame({ title, tool, sections, keys, keysHint, finders, searchHint, children }: FrameProps) {
    const helping = useSignal(false);
    const inSight = useSectionInSight(sections);
    const other = useComputed(() => (theme.value === "dark" ? "light" : "dark"));
    useEffect(() => {
        document.title = title;
        const away = registerKeys([
            ...keys,
            { key: "/", title: "search", run: focusSearch },
            { key: "t", title: "light or dark", run: toggleTheme },
            { key: "?", title: "this help", run: () => (helping.value = true) },
            ...sectionKeys(sections),
        ]);
        if (place.peek().section !== "") {
            reveal(place.peek().section);
        }
        const follow = () => reveal(place.peek().section);
        addEventListener("hashchange", follow);
        return () => {
            away();
            removeEventListener("hashchange", follow);
        };
    }, [sections, keys]);

    return (
        <>
            <a class="skip" href={hrefOf(sections[0]?.id ?? "")} onClick={(event) => (event.preventDefault(), reveal(sections[0]?.id ?? ""))}>
                To the content
            </a>
            <header class="bar">
                <span class="brand">
                    <Mark /> hangscope
                </span>
                <nav aria-label="Sections">
                    {sections.map(({ id, title }) => (
                        <a
                            key={id}
                            href={hrefOf(id)}
                            aria-current={inSight.value === id ? "true" : undefined}
                            onClick={(event) => (event.preventDefault(), goTo(id))}
                        >
                            {title}
                        </a>
                    ))}
                </nav>
                <Search finders={finders} placeholder={searchHint} />
                <button type="button" class="icon" aria-label={`Switch to the ${other.value} theme`} title="light or dark (t)" onClick={toggleTheme}>
                    {theme.value === "dark" ? "☀" : "☾"}
                </button>
                <button type="button" class="icon" aria-label="Keys" title="keys (?)" onClick={() => (helping.value = true)}>
                    ?
                </button>
            </header>
            <main>
                {children}
                {sections.map(({ id, title, aside, body }) => (
                    <Section key={id} id={id} title={title} aside={aside}>
                        {body()}
                    </Section>
                ))}
            </main>
            <footer class="quiet">
                Made by hangscope {tool}. This file holds all of its data and asks no network for anything.
            </footer>
            {helping.value && <Help hint={keysHint} onClose={() => (helping.value = false)} />}
        </>
    );
}

function Mark() {
    return (
        <svg class="mark" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <rect x="1" y="2" width="10" height="3" rx="1" />
            <rect x="1" y="6.5" width="10" height="3" rx="1" />
            <rect x="1" y="11" width="5" height="3" rx="1" class="late" />
            <rect x="13" y="1" width="1.6" height="14" rx=".8" class="line" />
        </svg>
    );
}
