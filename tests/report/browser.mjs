// A real browser for the tests of the pages: Debian's chromium, driven by playwright-core.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const SKIPPED = 77;
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const packages = createRequire(new URL("../../report/package.json", import.meta.url));

function skip(reason) {
    console.log(`skipped: ${reason}`);
    process.exit(SKIPPED);
}

function needed(name) {
    try {
        return packages.resolve(name);
    } catch {
        return skip(`npm ci in report/ installs ${name}`);
    }
}

/** The browser; the test is skipped where something is missing. */
export async function launch() {
    const executablePath = CHROMIUM.find(existsSync) ?? skip("chromium is not installed");
    const { chromium } = packages(needed("playwright-core"));
    return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-lcd-text"] }); // tests may run as root; the page is ours
}

/** Opens a page; `page.troubles` collects all that a report must never do. */
export async function open(browser, file, { hash = "", scheme = "light", width = 1280, height = 900, bypassCSP = false, wait = "h1" } = {}) {
    const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        reducedMotion: "reduce", // a page that still scrolls is no place to click
        bypassCSP,
        permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    const address = pathToFileURL(file).href;
    page.troubles = [];
    page.on("console", (message) => page.troubles.push(`console ${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => page.troubles.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => (page.troubles.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
    page.on("request", (request) => {
        if (!request.url().startsWith(address)) {
            page.troubles.push(`request: ${request.url()}`);
        }
    });
    await page.goto(address + hash);
    await page.waitForSelector(wait, { timeout: 30_000 });
    return page;
}

/** What comes of a request and of a script in the page; what the browser says of it joins the troubles. */
export function tryNetworkAndScript(page) {
    return page.evaluate(async () => {
        const asked = await fetch("http://127.0.0.1:9/").then(() => "answered", () => "refused");
        let ran = "refused";
        try {
            const script = document.createElement("script");
            script.textContent = "globalThis.ran = true";
            document.body.append(script);
            ran = globalThis.ran === true ? "ran" : "refused";
        } catch {
            // trusted types throw before the policy is asked
        }
        return { asked, ran };
    });
}

/** What axe-core finds wrong, in words. */
export async function axeViolations(page) {
    await page.evaluate(readFileSync(needed("axe-core"), "utf8"));
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(" ")).slice(0, 4).join(" | ")}`);
}

/** The rows of a table that are elements, and the text of a cell of the first. */
export const rowsOf = (page, label) => page.getByRole("grid", { name: label, exact: true }).locator(".table-row");
export const firstCell = async (rows, column = 0) => (await rows.first().getByRole("gridcell").nth(column).innerText()).trim();

export async function waitFor(page, what, test) {
    for (let tries = 0; tries < 100; tries++) {
        if (await test()) {
            return;
        }
        await page.waitForTimeout(50);
    }
    assert.fail(what);
}

/** Text as the page shows it: what is invisible or turns text around becomes visible. */
export function visible(text) {
    return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (char) =>
        char < "\u0020" ? String.fromCharCode(0x2400 + char.charCodeAt(0)) : `⟨${char.charCodeAt(0).toString(16)}⟩`,
    );
}
