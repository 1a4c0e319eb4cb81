// Where the reader is, as the part of the address behind "#": `#matrix?group=tp&rank=17`.
import { signal } from "@preact/signals";

export interface Place {
    section: string;
    values: ReadonlyMap<string, string>;
}

function parse(hash: string): Place {
    const [section = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
    return { section, values: new Map(new URLSearchParams(query)) };
}

function write(place: Place): string {
    const query = new URLSearchParams([...place.values]).toString();
    return `#${place.section}${query === "" ? "" : `?${query}`}`;
}

export const place = signal<Place>(parse(location.hash));

addEventListener("hashchange", () => {
    place.value = parse(location.hash);
});

function changed(section: string, changes: Record<string, string | null>): Place {
    const values = new Map(place.peek().values);
    for (const [key, value] of Object.entries(changes)) {
        if (value === null || value === "") {
            values.delete(key);
        } else {
            values.set(key, value);
        }
    }
    return { section, values };
}

function show(next: Place, how: "pushState" | "replaceState"): void {
    const hash = write(next);
    if (hash !== location.hash) {
        try {
            history[how](null, "", hash);
        } catch {
            // some browsers allow only so many changes in a while; the next one catches up
        }
    }
    place.value = next;
}

/** A step that the back button undoes: to a section, with values changed (null removes one). */
export function goTo(section: string, changes: Record<string, string | null> = {}): void {
    show(changed(section, changes), "pushState");
    reveal(section);
}

/** The same address kept up to date while the reader works, without a step. */
export function note(changes: Record<string, string | null>): void {
    show(changed(place.peek().section, changes), "replaceState");
}

/** The value of a key, or what to take without it. */
export function valueOf(key: string, otherwise = ""): string {
    return place.value.values.get(key) ?? otherwise;
}

/** The address of a section, for links. */
export function hrefOf(section: string, values: Record<string, string> = {}): string {
    return write({ section, values: new Map(Object.entries(values)) });
}

export function reveal(section: string): void {
    const element = document.getElementById(section);
    if (element === null) {
        return;
    }
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    element.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
    element.focus({ preventScroll: true });
}
