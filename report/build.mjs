// node build.mjs OUT: every page of src/ (a folder with main.tsx) as one HTML file, OUT/<page>.html.
//
// Code and style are inline and allowed by their hashes; everything else, the network first of all, is
// forbidden by the page's content-security policy. `hangscope` puts the data where PLACE stands.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const PLACE = "<!--hangscope:data-->";
const here = dirname(fileURLToPath(import.meta.url));

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function html({ title, script, style }) {
    const policy = [
        "default-src 'none'",
        `script-src ${hash(script)}`,
        `style-src ${hash(style)}`,
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].join("; ");
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<div id="page"><p class="boot">Unpacking the report …</p></div>
<noscript><p class="boot">This page unpacks and draws its data with JavaScript, which is switched off here. It needs no network. <code>hangscope analyze</code> prints the same verdict as text.</p></noscript>
${PLACE}
<script>${script}</script>
</body>
</html>
`;
}

async function page(name, out) {
    const { outputFiles } = await build({
        entryPoints: [join(here, "src", name, "main.tsx")],
        bundle: true,
        minify: true,
        write: false,
        outdir: out,
        format: "iife",
        target: ["es2022", "chrome109", "firefox115", "safari16.4"],
        jsx: "automatic",
        jsxImportSource: "preact",
        charset: "utf8",
        legalComments: "none",
        logLevel: "warning",
        external: [],
    });
    const text = (suffix) => outputFiles.find((file) => file.path.endsWith(suffix))?.text.trim() ?? "";
    const script = text(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
    writeFileSync(join(out, `${name}.html`), html({ title: "hangscope", script, style: text(".css") }));
}

const out = process.argv[2] ?? join(here, "..", "build", "report");
mkdirSync(out, { recursive: true });
for (const name of readdirSync(join(here, "src"))) {
    if (existsSync(join(here, "src", name, "main.tsx"))) {
        await page(name, out);
    }
}
