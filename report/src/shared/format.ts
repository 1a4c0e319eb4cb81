// Numbers, times and lists of ranks in words.

const NS = { s: 1e9, ms: 1e6, µs: 1e3 } as const;

const NUMBERS = new Intl.NumberFormat("en-US");

/** 1234567 as "1,234,567". */
export function count(value: number): string {
    return NUMBERS.format(value);
}

/** "1 rank", "12 ranks". */
export function plural(value: number, one: string, many = `${one}s`): string {
    return `${count(value)} ${value === 1 ? one : many}`;
}

export function percent(share: number): string {
    const value = share * 100;
    return `${value >= 10 || value === 0 ? Math.round(value) : value.toFixed(1)} %`;
}

/** A span of nanoseconds: "4.2 ms", "12 s", "3 min 20 s". */
export function span(ns: number): string {
    const sign = ns < 0 ? "−" : "";
    const size = Math.abs(ns);
    if (size >= 60 * NS.s) {
        const seconds = Math.round(size / NS.s);
        const minutes = Math.floor(seconds / 60);
        return minutes < 60
            ? `${sign}${minutes} min ${seconds % 60} s`
            : `${sign}${Math.floor(minutes / 60)} h ${minutes % 60} min`;
    }
    for (const [unit, factor] of Object.entries(NS)) {
        if (size >= factor) {
            const value = size / factor;
            return `${sign}${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ${unit}`;
        }
    }
    return `${sign}${size} ns`;
}

/** Ranks in ascending order as "0-7, 12". */
export function rankList(ranks: readonly number[] | Uint32Array, most = Infinity): string {
    const parts: string[] = [];
    for (let first = 0; first < ranks.length; ) {
        let last = first;
        while (last + 1 < ranks.length && ranks[last + 1] === ranks[last]! + 1) {
            last++;
        }
        if (parts.length === most) {
            return `${parts.join(", ")} …`;
        }
        parts.push(last === first ? `${ranks[first]}` : `${ranks[first]}-${ranks[last]}`);
        first = last + 1;
    }
    return parts.join(", ");
}

/** The ranks that a list like "0-7, 12" names. */
export function* ranksOf(list: string): Generator<number> {
    for (const [, first, last] of list.matchAll(/(\d+)(?:-(\d+))?/g)) {
        for (let rank = Number(first); rank <= Number(last ?? first); rank++) {
            yield rank;
        }
    }
}

const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text of the job as it may be shown: what is invisible or turns the direction of text becomes visible. */
export function shown(text: string): string {
    return text.replace(INVISIBLE, (char) =>
        char < "\u0020" ? String.fromCharCode(0x2400 + char.charCodeAt(0)) : `⟨${char.charCodeAt(0).toString(16)}⟩`,
    );
}
