// A button that puts text on the clipboard, also where the page is a file and has no clipboard of its own.
import { useSignal } from "@preact/signals";

function copyBySelection(text: string): boolean {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    try {
        return document.execCommand("copy");
    } finally {
        area.remove();
    }
}

export async function copyText(text: string): Promise<boolean> {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        return copyBySelection(text);
    }
}

export function CopyButton({ text, title, id }: { text: string; title: string; id?: string }) {
    const said = useSignal("");
    const copy = async () => {
        said.value = (await copyText(text)) ? "Copied" : "Not copied";
        setTimeout(() => (said.value = ""), 2000);
    };
    return (
        <>
            <button type="button" class="button" id={id} onClick={copy}>
                {title}
            </button>
            <span class="quiet" role="status" hidden={said.value === ""}>
                {said.value}
            </span>
        </>
    );
}
