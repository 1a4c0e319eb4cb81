// node measure.mjs PAGE.html...: how soon a page can be used, and how long it takes to answer.
//
// Ready: from the start of loading to the page drawn, and what of that is CPU time of the thread that draws. Of a
// job: every rank shown, all calls in sight and zoomed in once, dragged for two seconds; the time between frames that
// the browser shows. Of a fleet: from a letter in the filter of the jobs to the frame that shows what fits. Prints
// rows of a table: median of both, median and 95th percentile.
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { launch, open } from "./browser.mjs";

const LOADS = 5;
const DRAG_STEPS = 120;

const sorted = (values) => [...values].sort((a, b) => a - b);
const share = (values, part) => sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))];

async function readyMs(browser, file) {
    const page = await open(browser, file);
    const at = await page.evaluate(() => performance.getEntriesByName("hangscope.ready")[0].startTime);
    await page.context().close();
    return at;
}

async function frames(page, act) {
    await page.evaluate(() => {
        globalThis.gaps = [];
        let last = performance.now();
        const tick = (now) => {
            globalThis.gaps.push(now - last);
            last = now;
            globalThis.ticking = requestAnimationFrame(tick);
        };
        globalThis.ticking = requestAnimationFrame(tick);
    });
    await act();
    return page.evaluate(() => {
        cancelAnimationFrame(globalThis.ticking);
        return globalThis.gaps.slice(1);
    });
}

async function pan(browser, file) {
    const page = await open(browser, file, { hash: "#matrix?rows=ranks", width: 1440 });
    const canvas = page.locator(".matrix-canvas canvas");
    await canvas.focus();
    await page.keyboard.press("0");
    await page.keyboard.press("+");
    const { x, y, width, height } = await canvas.boundingBox();
    const [middleX, middleY] = [x + width * 0.6, y + height * 0.55];
    await page.mouse.move(middleX, middleY);
    await page.mouse.down();
    const gaps = await frames(page, async () => {
        for (let step = 0; step < DRAG_STEPS; step++) {
            await page.mouse.move(middleX + Math.sin(step / 9) * width * 0.3, middleY + Math.cos(step / 7) * height * 0.4);
        }
    });
    await page.context().close();
    return gaps;
}

async function filter(browser, file) {
    const page = await open(browser, file, { width: 1440 });
    await page.getByLabel("Filter jobs", { exact: true }).focus();
    const times = [];
    for (const letter of "node-1 rank-missing") {
        await page.evaluate(() => {
            document.activeElement.addEventListener("input", () => (globalThis.typed = performance.now()), { capture: true, once: true });
        });
        await page.keyboard.press(letter === " " ? "Space" : letter);
        times.push(await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now() - globalThis.typed))))));
    }
    await page.context().close();
    return times;
}

/** What loading costs the thread that draws, however busy the machine is. */
async function cpuMs(browser, file) {
    const page = await (await browser.newContext()).newPage();
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector("h1");
    const { metrics } = await session.send("Performance.getMetrics");
    await page.context().close();
    return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
}

async function isFleet(browser, file) {
    const page = await open(browser, file);
    const found = await page.getByLabel("Filter jobs", { exact: true }).count();
    await page.context().close();
    return found > 0;
}

const browser = await launch();
for (const file of process.argv.slice(2)) {
    const loads = [];
    const costs = [];
    for (let load = 0; load < LOADS; load++) {
        loads.push(await readyMs(browser, file));
        costs.push(await cpuMs(browser, file));
    }
    const gaps = (await isFleet(browser, file)) ? await filter(browser, file) : await pan(browser, file);
    const kilobytes = Math.round(statSync(file).size / 1000);
    console.log(`| ${file} | ${kilobytes} | ${Math.round(share(loads, 0.5))} | ${Math.round(share(costs, 0.5))} | ${share(gaps, 0.5).toFixed(0)} | ${share(gaps, 0.95).toFixed(0)} |`);
}
await browser.close();
