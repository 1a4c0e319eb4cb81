// Reads the data and hands it to the page; what goes wrong is said on the page.
import { render, type ComponentChild } from "preact";
import { PayloadError, readPayload, type Payload } from "./payload.js";
import "./theme.js";

export async function start<Document>(page: (payload: Payload<Document>) => ComponentChild): Promise<void> {
    const root = document.getElementById("page")!;
    try {
        const payload = await readPayload<Document>();
        root.replaceChildren();
        render(page(payload), root);
        performance.mark("hangscope.ready");
    } catch (error) {
        const words = error instanceof PayloadError ? error.message : `This report cannot be shown: ${String(error)}`;
        render(<p class="boot" role="alert">{words}</p>, root);
        if (!(error instanceof PayloadError)) {
            throw error;
        }
    }
}
