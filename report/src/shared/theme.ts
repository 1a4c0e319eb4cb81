// Light and dark: the system's choice until the reader makes one.
import { effect, signal } from "@preact/signals";

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

export const theme = signal<Theme>(stored() ?? systemTheme());

system.addEventListener("change", () => {
    theme.value = stored() ?? systemTheme();
});

effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
});

export function toggleTheme(): void {
    theme.value = theme.peek() === "dark" ? "light" : "dark";
    try {
        localStorage.setItem(STORED_AS, theme.peek());
    } catch {
        // then the choice lasts as long as the page
    }
}

/** A colour of theme.css, as the canvas needs it. */
export function colour(name: string): string {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
