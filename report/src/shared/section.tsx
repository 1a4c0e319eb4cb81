// A part of the page: reached by its address, by the bar on top and by its number.
import type { ComponentChildren } from "preact";
import { goTo, hrefOf } from "./place.js";

export interface SectionEntry {
    id: string;
    title: string;
    /** A few words beside the title. */
    aside?: ComponentChildren;
    body: () => ComponentChildren;
}

export function Section({ id, title, aside, children }: { id: string; title: string; aside?: ComponentChildren; children: ComponentChildren }) {
    return (
        <section id={id} aria-labelledby={`${id}-title`} tabIndex={-1}>
            <h2 id={`${id}-title`}>
                <a href={hrefOf(id)} onClick={(event) => (event.preventDefault(), goTo(id))}>
                    {title}
                </a>
                {aside !== undefined && <span class="aside">{aside}</span>}
            </h2>
            {children}
        </section>
    );
}
