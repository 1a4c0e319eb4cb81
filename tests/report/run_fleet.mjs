// node run_fleet.mjs HANGSCOPE PYTHON KIND [PICTURES]: the page of a fleet in a real browser.
//
// KIND is small (four jobs, as they were judged), a number of jobs, or hostile: see make_fleet.py. What the page
// counts is compared with what the views of the fleet say. With PICTURES, a folder, screenshots stay there.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { axeViolations, firstCell, launch, open, rowsOf, tryNetworkAndScript, visible, waitFor } from "./browser.mjs";

const [, , hangscope, python, kind, pictures] = process.argv;
const here = dirname(fileURLToPath(import.meta.url));
const MOST_ROWS_AS_ELEMENTS = 80;
const SECONDS_UNTIL_READY = 20; // of a machine that does other things, too; docs/PERFORMANCE.md has the figure

const ARCHIVE = [
    ["2026-01/job-1", "--ranks 8 --steps 12 --hosts --fault missing --culprits 2 --moment aged --epoch 3000000"],
    ["2026-02/job-2", "--ranks 8 --steps 12 --hosts --fault missing --culprits 3 --moment aged --epoch 6000000"],
    ["2026-02/job-3", "--ranks 4 --steps 12 --fault size --culprits 1 --epoch 6100000"],
    ["2026-02/job-4", "--ranks 4 --steps 12"],
];

function run(words, status = 0) {
    const ran = spawnSync(hangscope, words, { encoding: "utf8", maxBuffer: 2 ** 29 });
    assert.equal(ran.status, status, `${words.join(" ")}: exit status ${ran.status}\n${ran.stderr}`);
    return ran;
}

/** Rows of a query, as objects. */
const ask = (fleet, query) => run(["sql", fleet, query, "--format", "jsonl"]).stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line));
/** Text of a job as the page shows it. */
const told = (text) => visible(text.replace(/[\u0000-\u001f\u007f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`));

const words = (number) => number.toLocaleString("en-US");
const tile = async (page, title) => (await page.locator(".tile", { has: page.locator("dt", { hasText: title }) }).first().locator("dd").innerText()).trim();
const counted = (page, label) => page.locator(".table", { has: page.getByRole("grid", { name: label, exact: true }) }).getByRole("status").innerText();
const filter = (page, label) => page.getByLabel(`Filter ${label}`, { exact: true });
/** The address as the page has it; what playwright knows of it comes later. */
const hashOf = (page) => page.evaluate(() => location.hash);
const bars = (page) => page.locator(".chart svg rect[class^=v-]");
const everything = async (page) => {
    await page.locator("h1").click();
    await page.keyboard.press("x");
};

const checks = {
    async "the sentence and the tiles are what the fleet says"({ page, fleet }) {
        const [counts] = ask(
            fleet,
            `SELECT count(*) AS jobs, sum(code NOT IN ('healthy', 'undetermined')) AS failed, sum(code = 'healthy') AS healthy,
             sum(code = 'undetermined') AS undetermined, sum(state != 'judged') AS unjudged FROM job`,
        );
        const [top] = ask(fleet, "SELECT code, jobs FROM faults LIMIT 1");
        const [lost] = ask(fleet, "SELECT * FROM lost");
        const [fresh] = ask(fleet, "SELECT count(*) AS faults FROM new_faults");
        const [faults] = ask(fleet, "SELECT count(*) AS faults, sum(jobs > 1) AS recurring FROM faults");
        assert.equal(await tile(page, "jobs"), words(counts.jobs));
        assert.equal(await tile(page, "failed"), words(counts.failed));
        assert.equal(await tile(page, "healthy"), words(counts.healthy));
        assert.equal(await tile(page, "undetermined"), words(counts.undetermined));
        assert.equal(await tile(page, "not judged"), words(counts.unjudged));
        assert.equal(await tile(page, "new since last week"), words(fresh.faults));
        assert.equal(await tile(page, `faults, ${words(faults.recurring)} of them recurring`), words(faults.faults));
        const hours = Number((await tile(page, "GPU-hours lost")).replaceAll(",", ""));
        assert.ok(Math.abs(hours - lost.gpu_hours) <= Math.max(0.6, lost.gpu_hours / 1000), `${hours} ${lost.gpu_hours}`);
        if (lost.unknown_share >= 0.01) {
            const unknown = Number(/([\d]+) % unknown/.exec(await page.locator(".tiles").innerText())[1]);
            assert.ok(Math.abs(unknown - 100 * lost.unknown_share) <= 0.6, `${unknown} ${lost.unknown_share}`);
        }
        const sentence = await page.locator("h1").innerText();
        assert.ok(sentence.startsWith(`${words(counts.failed)} of ${words(counts.jobs)} jobs failed`), sentence);
        if (top.jobs > 1) {
            assert.ok(sentence.includes(told(top.code)) && sentence.includes(`${words(top.jobs)} jobs`), sentence);
        }
    },

    async "faults are those of the fleet, in its order"({ page, fleet }) {
        const faults = ask(fleet, "SELECT fingerprint, jobs, date(first_happened) AS first, date(last_happened) AS last FROM faults");
        assert.equal(await counted(page, "faults"), words(faults.length));
        const cells = await rowsOf(page, "faults").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.innerText.trim())));
        const heads = await page.getByRole("grid", { name: "faults", exact: true }).getByRole("columnheader").allInnerTexts();
        const [first, last, print] = ["first", "last", "fingerprint"].map((title) => heads.findIndex((head) => head.trim() === title));
        for (const [at, row] of cells.entries()) {
            assert.equal(row[0], words(faults[at].jobs));
            assert.equal(row[print], told(faults[at].fingerprint));
            if (kind !== "hostile") {
                assert.deepEqual([row[first], row[last]], [faults[at].first, faults[at].last]);
            }
        }
        const fresh = ask(fleet, "SELECT fingerprint FROM new_faults");
        await filter(page, "faults").fill("new:new");
        await waitFor(page, "only new faults", async () => (await rowsOf(page, "faults").count()) === fresh.length);
        const shown = await rowsOf(page, "faults").evaluateAll((rows) => rows.map((row) => row.innerText));
        assert.ok(fresh.every(({ fingerprint }) => shown.some((text) => text.includes(told(fingerprint)))));
        await filter(page, "faults").fill("");
    },

    async "offenders are those of the fleet"({ page, fleet }) {
        const offenders = ask(fleet, "SELECT kind, what, jobs, faults FROM offenders ORDER BY jobs DESC");
        assert.equal(await counted(page, "offenders"), words(offenders.length));
        const [host] = offenders.filter((each) => each.kind === "host");
        await filter(page, "offenders").fill("kind:host");
        const hosts = offenders.filter((each) => each.kind === "host").length;
        await waitFor(page, "only hosts", async () => (await counted(page, "offenders")).startsWith(`${words(hosts)}${hosts === offenders.length ? "" : " of"}`));
        const rows = rowsOf(page, "offenders");
        assert.deepEqual([await firstCell(rows), await firstCell(rows, 2), await firstCell(rows, 4)], ["host", words(host.jobs), words(host.faults)]);
        if (kind !== "hostile") {
            assert.equal(await firstCell(rows, 1), host.what);
        }
        await rows.first().click();
        await waitFor(page, "jobs of the host", async () => (await counted(page, "jobs")) === words(host.jobs));
        assert.equal(await tile(page, "jobs"), words(host.jobs));
        await page.getByRole("group", { name: "Chosen" }).getByRole("button", { name: /^named/ }).click();
        await filter(page, "offenders").fill("");
    },

    async "a verdict and a fault are chosen and taken back"({ page, fleet }) {
        const [top] = ask(fleet, "SELECT fingerprint, code, jobs FROM faults LIMIT 1");
        const [same] = ask(fleet, `SELECT count(*) AS jobs FROM job WHERE code = (SELECT code FROM faults LIMIT 1)`);
        await page.locator(".chart-legend button", { hasText: told(top.code) }).first().click();
        await waitFor(page, "jobs of the verdict", async () => (await counted(page, "jobs")) === words(same.jobs));
        assert.equal(await page.locator(".chart-legend [aria-pressed=true]").count(), 1);
        await everything(page);
        await rowsOf(page, "faults").first().click();
        await waitFor(page, "jobs of the fault", async () => (await counted(page, "jobs")) === words(top.jobs));
        const detail = await page.getByRole("group", { name: "The chosen fault" }).innerText();
        assert.ok(detail.includes(told(top.code)), detail);
        const other = await open(page.context().browser(), page.file, { hash: await hashOf(page) });
        assert.equal(await counted(other, "jobs"), words(top.jobs));
        assert.deepEqual(other.troubles, []);
        await other.context().close();
        await everything(page);
        await waitFor(page, "all jobs again", async () => (await page.getByRole("group", { name: "Chosen" }).count()) === 0);
    },

    async "a span of time is chosen by pointer and by keys"({ page, fleet }) {
        const chart = page.locator(".chart svg");
        assert.ok((await bars(page).count()) >= 2);
        await chart.scrollIntoViewIfNeeded();
        const box = await chart.boundingBox();
        await page.mouse.move(box.x + box.width - 12, box.y + 60);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.7, box.y + 60, { steps: 4 });
        assert.match(await page.locator(".chart-tip").innerText(), /\d{4}-\d\d-\d\d/);
        await page.mouse.up();
        const chosen = new URLSearchParams((await hashOf(page)).split("?")[1]);
        const [from, to] = ["from", "to"].map((key) => chosen.get(key));
        const [within] = ask(fleet, `SELECT count(*) AS jobs FROM job WHERE happened_ns >= strftime('%s', '${from}') * 1000000000 AND happened_ns < strftime('%s', '${to}') * 1000000000`);
        await waitFor(page, `${within.jobs} jobs from ${from} to ${to}`, async () => (await tile(page, "jobs")) === words(within.jobs));
        await page.getByRole("button", { name: "Look closer" }).click();
        await page.getByRole("button", { name: "GPU-hours lost" }).click();
        assert.match(await hashOf(page), /close=1/);
        await page.getByRole("button", { name: "Jobs", exact: true }).click();
        await page.getByRole("button", { name: "All the time", exact: true }).click();
        await chart.focus();
        await page.keyboard.press("End");
        await page.keyboard.press("Shift+ArrowLeft");
        await page.keyboard.press("Enter");
        await waitFor(page, "a span by keys", async () => (await hashOf(page)).includes("from="));
        await page.keyboard.press("Escape");
        await waitFor(page, "no span", async () => !(await hashOf(page)).includes("from="));
    },

    async "jobs are sorted, filtered, walked and opened"({ page, fleet }) {
        const [total] = ask(fleet, "SELECT count(*) AS jobs FROM job");
        const rows = rowsOf(page, "jobs");
        const grid = page.getByRole("grid", { name: "jobs", exact: true });
        assert.ok((await rows.count()) <= MOST_ROWS_AS_ELEMENTS);
        await grid.getByRole("button", { name: "job", exact: true }).click();
        await grid.getByRole("button", { name: "job", exact: true }).click();
        const names = ask(fleet, "SELECT name FROM job").map(({ name }) => told(name ?? ""));
        const last = names.sort(new Intl.Collator("en", { numeric: true }).compare).at(-1);
        await waitFor(page, `${last} first`, async () => (await firstCell(rows)) === last.trim());
        await grid.focus();
        await page.keyboard.press("End");
        await waitFor(page, "End reaches the last", async () => (await grid.getAttribute("aria-activedescendant")) === `jobs-${total.jobs - 1}`);
        await page.keyboard.press("Home");
        await page.keyboard.press("Enter");
        const card = page.getByRole("group", { name: "The chosen job" });
        await card.waitFor();
        assert.ok((await card.innerText()).includes(last.trim()));
        await card.getByRole("button", { name: "Close" }).click();
        await grid.getByRole("button", { name: "job", exact: true }).click();
        const [big] = ask(fleet, "SELECT count(*) AS jobs FROM job WHERE world_size >= 8");
        await filter(page, "jobs").fill("size>=8");
        await waitFor(page, `${big.jobs} jobs of 8 ranks and more`, async () => (await counted(page, "jobs")) === `${words(big.jobs)} of ${words(total.jobs)}`);
        await filter(page, "jobs").fill("");
    },

    async "jobs that could not be judged are named"({ page, fleet }) {
        const bad = ask(fleet, "SELECT name, state FROM not_judged");
        if (bad.length === 0) {
            assert.match(await page.locator("#coverage").innerText(), /Every job was judged/);
            return;
        }
        assert.equal(await counted(page, "jobs not judged"), words(bad.length));
        await filter(page, "jobs not judged").fill(bad[0].name);
        await waitFor(page, bad[0].name, async () => (await firstCell(rowsOf(page, "jobs not judged"))) === bad[0].name);
        await filter(page, "jobs not judged").fill("");
    },

    async "search, help, theme and copy have keys"({ page, fleet }) {
        await page.locator("h1").click();
        await page.keyboard.press("/");
        await page.keyboard.type("job-3");
        await page.getByRole("option").first().waitFor();
        await page.keyboard.press("Enter");
        assert.match(await hashOf(page), /job=[^&]*job-3/);
        await page.getByRole("group", { name: "The chosen job" }).getByRole("button", { name: "Close" }).click();
        await page.keyboard.press("?");
        assert.match(await page.getByRole("dialog").innerText(), /all jobs again/);
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
        await page.keyboard.press("y");
        await page.getByText("Copied", { exact: true }).waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        assert.ok(copied.includes(told(ask(fleet, "SELECT fingerprint FROM faults LIMIT 1")[0].fingerprint)), copied);
        const before = await page.evaluate(() => document.documentElement.dataset.theme);
        await page.keyboard.press("t");
        assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), before);
        await page.keyboard.press("t");
    },

    async "a kept report opens"({ browser, folder }) {
        if (kind !== "small") {
            return;
        }
        mkdirSync(join(folder, "pages"));
        const odd = join(folder, "f l#%?.db");
        run(["batch", "-q", join(folder, "archive"), "-o", odd, "--keep", "report"]);
        for (const file of [join(folder, "beside.html"), join(folder, "pages", "below.html")]) {
            run(["fleet", "report", odd, "-o", file]);
            const page = await open(browser, file);
            const links = page.getByRole("link", { name: "report", exact: true });
            assert.equal(await links.count(), ARCHIVE.length);
            const [last] = ask(odd, "SELECT summary FROM job ORDER BY happened_ns DESC LIMIT 1");
            await links.first().click();
            await page.waitForURL(/f%20l%23%25%3F\.db\.kept/);
            await page.locator(".matrix-canvas canvas").waitFor();
            assert.equal(await page.locator("h1").innerText(), last.summary);
            await page.context().close();
        }
    },

    async "the page can ask nobody and run nothing else"({ page }) {
        assert.deepEqual(await tryNetworkAndScript(page), { asked: "refused", ran: "refused" });
        assert.ok(page.troubles.length > 0);
        page.troubles.length = 0; // the browser tells of what it refused
    },

    async "dark, narrow and printed"({ browser, file }) {
        const dark = await open(browser, file, { scheme: "dark" });
        const ground = await dark.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
        assert.ok(Math.max(...ground) < 64, `${ground}`);
        assert.deepEqual(dark.troubles, []);
        await dark.context().close();
        const narrow = await open(browser, file, { width: 400 });
        assert.ok(await narrow.evaluate(() => document.documentElement.scrollWidth <= 400), "no sideways scrolling");
        await narrow.emulateMedia({ media: "print" });
        assert.ok((await narrow.pdf()).length > 1000);
        assert.deepEqual(narrow.troubles, []);
        await narrow.context().close();
    },

    async "axe-core finds nothing, light and dark"({ browser, file, fleet }) {
        const [job] = ask(fleet, "SELECT name, fingerprint FROM job WHERE fingerprint IS NOT NULL AND happened_ns IS NOT NULL LIMIT 1");
        const hash = `#faults?${new URLSearchParams({ fault: told(job.fingerprint), job: told(job.name) })}`;
        for (const scheme of ["light", "dark"]) {
            const page = await open(browser, file, { scheme, bypassCSP: true, hash });
            assert.equal(await page.locator(".detail").count(), 2);
            assert.deepEqual(await axeViolations(page), []);
            await page.context().close();
        }
    },

    async "nothing of a job is markup, and no link leads away"({ page, file }) {
        if (kind !== "hostile") {
            return;
        }
        for (const label of ["faults", "offenders", "jobs"]) {
            const rows = rowsOf(page, label);
            for (let at = 0; at < Math.min(8, await rows.count()); at++) {
                await rows.nth(at).click();
                await page.waitForTimeout(20);
                await everything(page);
            }
        }
        const found = await page.evaluate(() => ({
            harm: globalThis.harm ?? null,
            elements: document.querySelectorAll("img, iframe, object, #page script, #page style").length,
            scripts: document.scripts.length,
            turned: /[\u202a-\u202e\u2066-\u2069\u200b]/.test(document.body.innerText) || /[\u202a-\u202e\u2066-\u2069]/.test(document.title),
            shown: document.body.innerText.includes('<img src=x onerror="window.harm=1"><script>'),
        }));
        assert.deepEqual(found, { harm: null, elements: 0, scripts: 1, turned: false, shown: true });
        const base = new URL(".", `file://${file}`).href;
        const links = await page.locator("#jobs a[href]").evaluateAll((all) => all.map(({ href }) => href));
        const away = links.filter((href) => !href.startsWith(base) || href.includes("/../"));
        assert.deepEqual(away, []);
        assert.ok(links.length > 2);
    },

    async "it can be used in time"({ page }) {
        const ready = await page.evaluate(() => performance.getEntriesByName("hangscope.ready")[0].startTime);
        console.log(`        ready after ${Math.round(ready)} ms`);
        assert.ok(ready < 1000 * SECONDS_UNTIL_READY, `${ready} ms`);
    },
};

function makeFleet(folder) {
    for (const [name, options] of ARCHIVE) {
        execFileSync(python, [join(here, "../dumps/make_dumps.py"), join(folder, "archive", name), ...options.split(" ")]);
    }
    const fleet = join(folder, "fleet.db");
    run(["batch", "-q", join(folder, "archive"), "-o", fleet]);
    if (kind !== "small") {
        execFileSync(python, [join(here, "make_fleet.py"), fleet, kind]);
    }
    return fleet;
}

/** What `fleet report` refuses, and that it writes the same bytes again. */
function checkCommand(folder, fleet) {
    const file = join(folder, "fleet.html");
    run(["fleet", "report", fleet, "-o", file]);
    assert.ok(run(["fleet", "report", fleet, "-o", "-"]).stdout === readFileSync(file, "utf8"), "the same bytes again");
    run(["fleet", "report", fleet, "-o", file]); // its own page is replaced
    run(["fleet", "report", fleet], 2);
    run(["fleet", "report", join(folder, "archive"), "-o", join(folder, "none.html")], 2);
    run(["fleet", "report", fleet, "-o", fleet], 2);
    run(["fleet", "report", fleet, "-o", join(folder, "nowhere", "fleet.html")], 2);
    run(["fleet", "report", fleet, "-o", join(folder, "none.html"), "--template", fleet], 2);
    const cut = join(folder, "cut.db");
    writeFileSync(cut, readFileSync(fleet).subarray(0, 20_000));
    run(["fleet", "report", cut, "-o", join(folder, "none.html")], 4);
    assert.ok(!existsSync(join(folder, "none.html")));
    return file;
}

async function takePictures(browser, file) {
    mkdirSync(pictures, { recursive: true });
    for (const [name, options] of [
        ["light", {}],
        ["dark", { scheme: "dark" }],
        ["narrow", { width: 420 }],
    ]) {
        const page = await open(browser, file, options);
        await page.waitForTimeout(300);
        await page.screenshot({ path: join(pictures, `fleet-${kind}-${name}.png`), fullPage: true });
        await rowsOf(page, "faults").first().click();
        await page.waitForTimeout(300);
        await page.screenshot({ path: join(pictures, `fleet-${kind}-${name}-chosen.png`) });
        await page.context().close();
    }
}

async function main() {
    const browser = await launch();
    const folder = mkdtempSync(join(tmpdir(), "hangscope-fleet-"));
    let failed = 0;
    try {
        const fleet = makeFleet(folder);
        const file = checkCommand(folder, fleet);
        const page = await open(browser, file);
        page.file = file;
        for (const [name, check] of Object.entries(checks)) {
            try {
                await check({ browser, page, file, fleet, folder });
                assert.deepEqual(page.troubles, []);
                console.log(`ok      ${name}`);
            } catch (error) {
                failed++;
                page.troubles.length = 0;
                await everything(page).catch(() => {});
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
