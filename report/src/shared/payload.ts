// The data of the page: base64 of gzip of a blob, see docs/formats/report-data.md.
//   "HSRP" · u32 version · u32 bytes of JSON · JSON · zeros up to a multiple of 8 · sections

import { shown } from "./format.js";

const VERSION = 1;
const HEADER_BYTES = 12;

export interface SectionRef {
    at: number;
    count: number;
    type: "u8" | "u16" | "u32" | "i32" | "f64";
}

export type Section = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

export interface Payload<Document> {
    document: Document;
    section(ref: SectionRef): Section;
}

/** What went wrong, in words for the reader of the page. */
export class PayloadError extends Error {}

/** The one text that is kept as it is, to be copied; whoever shows it makes it visible first. */
const VERBATIM = "text";

/** The same value with all of its texts as they may be shown. */
function madeVisible(value: unknown): unknown {
    if (typeof value === "string") {
        return shown(value);
    }
    if (Array.isArray(value)) {
        return value.map(madeVisible);
    }
    if (value !== null && typeof value === "object") {
        return Object.fromEntries(Object.entries(value).map(([key, each]) => [shown(key), madeVisible(each)]));
    }
    return value;
}

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };

function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) {
        bytes[at] = binary.charCodeAt(at);
    }
    return bytes;
}

async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(unpacked).arrayBuffer();
}

function open<Document>(buffer: ArrayBuffer): Payload<Document> {
    const view = new DataView(buffer);
    const magic = new TextDecoder().decode(buffer.slice(0, 4));
    if (buffer.byteLength < HEADER_BYTES || magic !== "HSRP") {
        throw new PayloadError("The data in this file is no report of hangscope.");
    }
    const version = view.getUint32(4, true);
    if (version !== VERSION) {
        throw new PayloadError(`The data is of version ${version}; this page reads version ${VERSION}.`);
    }
    const jsonEnd = HEADER_BYTES + view.getUint32(8, true);
    const json = new TextDecoder().decode(new Uint8Array(buffer, HEADER_BYTES, jsonEnd - HEADER_BYTES));
    const base = Math.ceil(jsonEnd / 8) * 8;
    const parsed = JSON.parse(json) as Record<string, unknown>;
    const visible = Object.entries(parsed).map(([key, value]) => [key, key === VERBATIM ? value : madeVisible(value)]);
    return {
        document: Object.fromEntries(visible) as Document,
        section: ({ at, count, type }) => new ARRAYS[type](buffer, base + at, count),
    };
}

/** The payload of the element #data; PayloadError when there is none or it cannot be read. */
export async function readPayload<Document>(): Promise<Payload<Document>> {
    const element = document.getElementById("data");
    if (element === null) {
        throw new PayloadError("This is the empty page. `hangscope report PATH -o job.html` fills it.");
    }
    let buffer: ArrayBuffer;
    try {
        buffer = await gunzip(bytesOfBase64(element.textContent.trim()));
    } catch {
        throw new PayloadError("The data in this file is cut short or damaged. Was it copied whole?");
    }
    element.remove();
    return open<Document>(buffer);
}
