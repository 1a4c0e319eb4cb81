// node measure.mjs REPORT.html...: how soon a report can be used, and how long frames take while it is panned.
//
// Ready: from the start of loading to the page drawn. Pan: every rank shown, all calls in sight and zoomed in
// once, dragged for two seconds; the time between frames that the browser shows. Prints rows of a table.
import { statSync } from "node:fs";
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

const browser = await launch();
for (const file of process.argv.slice(2)) {
    const loads = [];
    for (let load = 0; load < LOADS; load++) {
        loads.push(await readyMs(browser, file));
    }
    const gaps = await pan(browser, file);
    const kilobytes = Math.round(statSync(file).size / 1000);
    console.log(`| ${file} | ${kilobytes} | ${Math.round(share(loads, 0.5))} | ${share(gaps, 0.5).toFixed(0)} | ${share(gaps, 0.95).toFixed(0)} |`);
}
await browser.close();
