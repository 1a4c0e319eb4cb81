// node run_modules.mjs: the checks of modules.ts, bundled for Node.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(new URL("../../report/package.json", import.meta.url))("esbuild");
const folder = mkdtempSync(join(tmpdir(), "hangscope-modules-"));
try {
    const outfile = join(folder, "modules.mjs");
    await build({ entryPoints: [join(here, "modules.ts")], bundle: true, platform: "node", format: "esm", outfile, logLevel: "warning", jsx: "automatic", jsxImportSource: "preact", nodePaths: [join(here, "../../report/node_modules")] });
    execFileSync(process.execPath, [outfile], { stdio: "inherit" });
} catch (error) {
    process.exitCode = error.status ?? 1;
} finally {
    rmSync(folder, { recursive: true, force: true });
}
