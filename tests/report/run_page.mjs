// node run_page.mjs HANGSCOPE PYTHON JOB [PICTURES]: the report of a job in a real browser.
//
// JOB is a kind of make_jobs.py (16, 1024, 16384, hostile) or a folder of samples/, a job that really ran and
// hung. With PICTURES, a folder, screenshots stay there; rank0-evaluation.png is docs/report.png.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { axeViolations, firstCell, launch, open, rowsOf, tryNetworkAndScript, visible, waitFor } from "./browser.mjs";

const [, , hangscope, python, kind, pictures] = process.argv;
const here = dirname(fileURLToPath(import.meta.url));
const MOST_ROWS_AS_ELEMENTS = 80;
const MOST_FOLDED_ROWS = 12;
const MOST_OUTPUT = 512 * 2 ** 20;

function run(...words) {
    const { status, stdout, stderr } = spawnSync(hangscope, words, { encoding: "utf8", maxBuffer: MOST_OUTPUT });
    assert.ok(status === 0 || status === 1, `${words.join(" ")}: exit status ${status}\n${stderr}`);
    return stdout;
}

/** What the terminal shows, without the time that it took. */
const untimed = (text) => text.replace(/^(.*) · [0-9.]+ s\n/, "$1\n");

const panel = (page) => page.locator("#matrix-cell");

/** How many pixels of the matrix have a colour of the theme. */
const pixelsOf = (page, token) =>
    page.evaluate((name) => {
        const canvas = document.querySelector(".matrix-canvas canvas");
        const wanted = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
        const [red, green, blue] = [1, 3, 5].map((at) => parseInt(wanted.slice(at, at + 2), 16));
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        let found = 0;
        for (let at = 0; at < data.length; at += 4) {
            found += data[at] === red && data[at + 1] === green && data[at + 2] === blue;
        }
        return found;
    }, token);

const checks = {
    async "the verdict is on top, word for word"({ page, verdict }) {
        assert.equal(await page.locator("h1").innerText(), visible(verdict.verdict.summary));
        assert.match(await page.locator("#verdict").innerText(), new RegExp(`${verdict.verdict.code}[^]*${verdict.verdict.confidence} confidence`));
        for (const step of verdict.next_steps) {
            assert.ok((await page.locator("#verdict").innerText()).includes(visible(step)), step);
        }
    },

    async "copied is what the terminal shows"({ page, text }) {
        await page.getByRole("button", { name: "Copy the verdict" }).click();
        await page.getByText("Copied", { exact: true }).waitFor();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);
        await page.getByRole("button", { name: "As text" }).click();
        assert.equal(await page.locator(".terminal").evaluate((element) => element.textContent), visible(text));
        await page.getByRole("button", { name: "As text" }).click();
    },

    async "c goes to the culprit, h to the hang"({ page, verdict }) {
        const { culprits, operation } = verdict.verdict;
        await page.keyboard.press("c");
        await waitFor(page, "the panel shows the call", async () => (await panel(page).innerText()).includes(`${operation.op} #${operation.seq}`));
        const facts = await panel(page).innerText();
        assert.match(facts, new RegExp(`rank\\s+${culprits[0].rank}\\b`));
        assert.match(facts, /not made/);
        await waitFor(page, "the canvas shows the missing call", async () => (await pixelsOf(page, "missing")) > 20);
        await waitFor(page, "and those who hang there", async () => (await pixelsOf(page, "hung")) > 20);
        await page.keyboard.press("ArrowLeft");
        await page.keyboard.press("h");
        await waitFor(page, "h is the hang", async () => (await panel(page).innerText()).includes(`${operation.op} #${operation.seq}`));
    },

    async "arrows walk the calls, hover and click tell of one"({ page }) {
        const canvas = page.locator(".matrix-canvas canvas");
        await canvas.focus();
        const call = () => Number(new URLSearchParams(new URL(page.url()).hash.split("?")[1]).get("call"));
        const before = call();
        await page.keyboard.press("ArrowLeft");
        await waitFor(page, "the link names an earlier call", () => call() < before);
        await page.keyboard.press("+");
        await page.keyboard.press("0");
        let [x, y] = [0, 0];
        await waitFor(page, "hover and click tell of the first cell", async () => {
            const box = await canvas.boundingBox(); // a new one each time: the page may still be scrolling here
            [x, y] = [box.x + 250 + 14, box.y + 54];
            await page.mouse.move(x, y);
            const line = await page.locator(".tip").textContent();
            await page.mouse.click(x, y);
            const title = (await page.locator(".cell-title bdi").textContent()).trim();
            return /^ranks? .+ · .+ #\d+ of .+ · .+/s.test(line) && line.includes(title);
        });
        await page.mouse.wheel(0, -300);
        await page.mouse.down();
        await page.mouse.move(x - 80, y, { steps: 4 });
        await page.mouse.up();
    },

    async "equal ranks are folded and opened"({ page, job }) {
        const folded = job.rows();
        assert.ok((await folded) <= MOST_FOLDED_ROWS, `${await folded} rows`);
        await page.getByRole("button", { name: "Every rank" }).click();
        await page.locator("select").nth(1).selectOption("lateness");
        assert.match(page.url(), /rows=ranks.*order=lateness|order=lateness.*rows=ranks/);
        await page.keyboard.press("c");
        await waitFor(page, "the culprit is drawn among all ranks", async () => (await pixelsOf(page, "missing")) > 20);
        await page.locator("select").nth(1).selectOption("verdict");
        await page.getByRole("button", { name: "Equal ranks folded" }).click();
    },

    async "waiting ends at the culprit; a circle is marked"({ page, verdict }) {
        const graph = page.locator("#waits");
        const culprit = graph.locator(".wait-node.culprit").first();
        assert.match(await culprit.locator("text").first().textContent(), new RegExp(`^ranks? .*\\b${verdict.verdict.culprits[0].rank}\\b`));
        assert.ok((await graph.locator(".wait-edge").count()) >= 1);
        const text = await graph.locator(".roots").innerText();
        if (verdict.verdict.code === "group-deadlock") {
            assert.match(text, /↻ ranks .* wait for each other/);
            assert.ok((await graph.locator(".wait-edge.in-cycle").count()) >= 2);
        } else {
            assert.match(text, new RegExp(`ranks? ${verdict.verdict.culprits[0].rank} waits for nobody`));
        }
        await culprit.focus();
        await page.keyboard.press("Enter");
        assert.match(page.url(), new RegExp(`rank=${verdict.verdict.culprits[0].rank}\\b`));
    },

    async "who is habitually late is marked, where the clocks are known"({ browser, page, file, input }) {
        if (kind !== "rank0-evaluation") {
            return;
        }
        const chips = (of) => of.locator("#arrival .chip", { hasText: "habitual" });
        assert.equal(await page.locator("#arrival").getByRole("row").count(), 4); // the header, ranks 1 to 3
        assert.equal(await chips(page).count(), 0); // nothing tells how far the clocks are apart
        const [places, other] = [file.replace("job.html", "places.txt"), file.replace("job.html", "habitual.html")];
        writeFileSync(places, [0, 1, 2, 3].map((rank) => `${rank} node-a ${rank}\n`).join(""));
        run("report", input, "--rank-map", places, "-o", other);
        const marked = await open(browser, other);
        const rows = await marked.locator("#arrival .is-habitual").allInnerTexts();
        assert.equal(await chips(marked).count(), rows.length);
        // of 7 calls rank 1 came last in 4, rank 3 in 2, rank 2 in 1, which is under a fifth
        const told = rows.map((row) => row.split(/\s+/).join(" "));
        assert.equal(told.length, 2, told.join("\n"));
        assert.match(told[0], /^.*\b1\b.* 57 % 4 of 7 2\.38 ms 9\.41 ms ± 0 ns habitual$/);
        assert.match(told[1], /^.*\b3\b.* 29 % 2 of 7 4\.65 ms .* ± 0 ns habitual$/);
        assert.match(await marked.locator("#arrival").innerText(), /habitual when it came last in at least 20 %/);
        assert.deepEqual(marked.troubles, []);
        await marked.context().close();
    },

    async "ranks are filtered and sorted"({ page, verdict, worldSize }) {
        const rows = rowsOf(page, "ranks");
        const filter = page.getByLabel("Filter ranks", { exact: true });
        await filter.fill("role:culprit");
        await waitFor(page, "only culprits", async () => (await rows.count()) === verdict.verdict.culprits.length);
        assert.equal(await firstCell(rows), `${verdict.verdict.culprits[0].rank}`);
        await filter.fill(`rank>=${worldSize - 2}`);
        await waitFor(page, "two ranks", async () => (await rows.count()) === 2);
        await filter.fill("");
        const header = page.getByRole("grid", { name: "ranks", exact: true }).getByRole("button", { name: "rank", exact: true });
        await header.click();
        await waitFor(page, "rank 0 first", async () => (await firstCell(rows)) === "0");
        await header.click();
        await waitFor(page, "the last rank first", async () => (await firstCell(rows)) === `${worldSize - 1}`);
        assert.ok((await rows.count()) <= MOST_ROWS_AS_ELEMENTS);
        await page.getByRole("grid", { name: "ranks", exact: true }).focus();
        await page.keyboard.press("End");
        await waitFor(page, "End reaches rank 0", async () => (await rows.last().innerText()).startsWith("0"));
        await page.keyboard.press("Enter");
        assert.match(page.url(), /rank=0\b/);
    },

    async "search, help and theme have keys"({ page }) {
        await page.locator("h1").click();
        await page.keyboard.press("/");
        await page.keyboard.type("rank 1");
        await page.getByRole("option").first().waitFor();
        await page.keyboard.press("Enter");
        assert.match(page.url(), /#matrix.*rank=1\b/);
        await page.keyboard.press("?");
        assert.match(await page.getByRole("dialog").innerText(), /the culprit/);
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
        const before = await page.evaluate(() => document.documentElement.dataset.theme);
        await page.keyboard.press("t");
        assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), before);
        await page.keyboard.press("t");
    },

    async "a link leads to the same place"({ browser, page, file }) {
        await page.keyboard.press("c");
        await page.waitForTimeout(100);
        const title = await page.locator(".cell-title").innerText();
        const other = await open(browser, file, { hash: new URL(page.url()).hash });
        await waitFor(other, "the same call is pinned", async () => (await other.locator(".cell-title").count()) === 1 && (await other.locator(".cell-title").innerText()) === title);
        await other.context().close();
    },

    async "the page can ask nobody and run nothing else"({ page }) {
        assert.deepEqual(await tryNetworkAndScript(page), { asked: "refused", ran: "refused" });
        page.troubles.length = 0; // these were ours
    },

    async "without its data, or with half of it, the page says so"({ browser, file }) {
        if (kind === "16384") {
            return; // as at 1,024
        }
        const whole = readFileSync(file, "utf8");
        const [data] = whole.match(/<script id="data"[^>]*>[^<]*<\/script>/);
        for (const [without, words] of [
            ["", /empty page/],
            [`${data.slice(0, data.length / 2)}</script>`, /cut short or damaged/],
        ]) {
            const broken = file.replace("job.html", "broken.html");
            writeFileSync(broken, whole.replace(data, () => without));
            const page = await open(browser, broken, { wait: '[role="alert"]' });
            assert.match(await page.getByRole("alert").innerText(), words);
            assert.deepEqual(page.troubles, []);
            await page.context().close();
        }
    },

    async "dark, narrow and on paper"({ browser, file }) {
        const dark = await open(browser, file, { scheme: "dark" });
        const ground = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
        assert.ok(Math.max(...ground) < 64, `${ground}`);
        assert.deepEqual(dark.troubles, []);
        const narrow = await open(browser, file, { width: 400 });
        assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= 400), "no sideways scrolling");
        await narrow.emulateMedia({ media: "print" });
        assert.ok(!(await narrow.locator("header.bar").isVisible()));
        assert.ok((await narrow.pdf()).length > 1000);
        assert.deepEqual(narrow.troubles, []);
        await dark.context().close();
        await narrow.context().close();
    },

    async "axe-core finds nothing, light and dark"({ browser, file }) {
        for (const scheme of ["light", "dark"]) {
            const page = await open(browser, file, { scheme, bypassCSP: true });
            await page.keyboard.press("c");
            await page.locator("details").evaluateAll((all) => all.slice(0, 6).forEach((each) => (each.open = true)));
            assert.deepEqual(await axeViolations(page), []);
            await page.context().close();
        }
    },

    async "nothing of the job is markup"({ page }) {
        if (kind !== "hostile") {
            return;
        }
        await page.locator("details").evaluateAll((all) => all.forEach((each) => (each.open = true)));
        for (const name of await page.locator(".where.link").all()) {
            await name.click();
        }
        const found = await page.evaluate(() => ({
            harm: globalThis.harm ?? null,
            elements: document.querySelectorAll("img, iframe, object, b, #page script, #page style").length,
            scripts: document.scripts.length,
            turned: /[\u202a-\u202e\u2066-\u2069\u200b]/.test(document.body.innerText) || /[\u202a-\u202e\u2066-\u2069]/.test(document.title),
            shown: document.body.innerText.includes('<img src=x onerror="window.harm=1"><script>'),
        }));
        assert.deepEqual(found, { harm: null, elements: 0, scripts: 1, turned: false, shown: true });
    },
};

async function takePictures(browser, file) {
    mkdirSync(pictures, { recursive: true });
    const first = await open(browser, file, { width: 1040, height: 770 });
    await first.keyboard.press("c");
    await first.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
    await first.waitForTimeout(600);
    await first.evaluate(() => scrollTo({ top: 0, behavior: "instant" }));
    await first.mouse.move(0, 0);
    await first.screenshot({ path: join(pictures, `${kind}.png`) });
    await first.context().close();
    for (const [name, options] of [
        ["light", {}],
        ["dark", { scheme: "dark", hash: "#matrix" }],
        ["narrow", { width: 420 }],
    ]) {
        const page = await open(browser, file, options);
        if (name !== "narrow") {
            await page.keyboard.press("c");
        }
        await page.waitForTimeout(300);
        await page.screenshot({ path: join(pictures, `${kind}-${name}.png`) });
        await page.screenshot({ path: join(pictures, `${kind}-${name}-whole.png`), fullPage: true });
        await page.context().close();
    }
}

async function main() {
    const browser = await launch();
    const folder = mkdtempSync(join(tmpdir(), "hangscope-page-"));
    let failed = 0;
    try {
        const input = join(folder, "job");
        const file = join(folder, "job.html");
        const sample = join(here, "../../samples", kind);
        if (existsSync(sample)) {
            cpSync(sample, input, { recursive: true });
        } else {
            execFileSync(python, [join(here, "make_jobs.py"), input, kind]);
        }
        run("report", input, "-o", file);
        const verdict = JSON.parse(run("analyze", "--json", input));
        const text = untimed(run("analyze", "--color", "never", input));
        const page = await open(browser, file);
        const job = { rows: () => page.evaluate(() => Math.round((document.querySelector(".matrix-canvas canvas").clientHeight - 44) / 24)) };
        const world = { browser, page, file, input, verdict, text, job, worldSize: verdict.coverage.world_size };
        for (const [name, check] of Object.entries(checks)) {
            try {
                await check(world);
                assert.deepEqual(page.troubles, []);
                console.log(`ok      ${name}`);
            } catch (error) {
                failed++;
                page.troubles.length = 0;
                console.log(`FAILED  ${name}\n${error.stack}`);
            }
        }
        if (pictures !== undefined) {
            await takePictures(browser, file);
        }
    } finally {
        await browser.close();
        rmSync(folder, { recursive: true, force: true });
    }
    process.exit(failed === 0 ? 0 : 1);
}

await main();
