// Keys that work anywhere on the page. What is registered is also what the help lists.

export interface Key {
    key: string;
    title: string;
    run: () => void;
}

const registered = new Map<string, Key>();

function isTyping(target: EventTarget | null): boolean {
    return target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]") !== null;
}

addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) {
        return;
    }
    if (document.querySelector("dialog[open]") !== null) {
        return;
    }
    const found = registered.get(event.key);
    if (found !== undefined) {
        event.preventDefault();
        found.run();
    }
});

/** Adds keys; the function returned takes them away again. */
export function registerKeys(keys: readonly Key[]): () => void {
    for (const key of keys) {
        registered.set(key.key, key);
    }
    return () => {
        for (const key of keys) {
            if (registered.get(key.key) === key) {
                registered.delete(key.key);
            }
        }
    };
}

export function registeredKeys(): Key[] {
    return [...registered.values()];
}
