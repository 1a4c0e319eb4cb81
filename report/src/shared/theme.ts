// Light and dark: the system's choice until the reader makes one.
import { computed, effect, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const STORED_AS = "hangscope.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function stored(): Theme | null {
    try {
        const value = localStorage.getItem(STORED_AS);
        return value === "light" || value === "dark" ? value : null;
    } catch {
        return null; // a file opened from a disk may have no storage
    }
}

const systemTheme = (): Theme => (system.matches ? "dark" : "light");

const chosen = signal<Theme>(stored() ?? systemTheme());
const printer = matchMedia("print");
const printing = signal(printer.matches);

/** What is shown; on paper always light. */
export const theme = computed<Theme>(() => (printing.value ? "light" : chosen.value));

printer.addEventListener("change", () => {
    printing.value = printer.matches;
});
system.addEventListener("change", () => {
    chosen.value = stored() ?? systemTheme();
});

effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
});

export function toggleTheme(): void {
    chosen.value = chosen.peek() === "dark" ? "light" : "dark";
    try {
        localStorage.setItem(STORED_AS, chosen.peek());
    } catch {
        // then the choice lasts as long as the page
    }
}

/** A colour of theme.css, as the canvas needs it. */
export function colour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
