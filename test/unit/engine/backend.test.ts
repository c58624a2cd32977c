import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { openPolicy, probeBackend, threadSettings } from "../../../server/engine/index.ts";
import { optimizer, tinyModel } from "./support.ts";

/** A native root in which nothing was set up. */
const root = mkdtempSync(join(tmpdir(), "gradus-root-"));
mkdirSync(join(root, "node_modules", "better-sqlite3"), { recursive: true });
process.env["GRADUS_NATIVE_ROOT"] = root;
after(() => {
  rmSync(root, { recursive: true, force: true });
});

const open = (backend: "auto" | "native") =>
  openPolicy({ model: tinyModel(), optimizer: optimizer(), backend, seed: 1 });

test("without the native library a run falls back to WebAssembly and says why and what fixes it", async () => {
  const policy = await open("auto");
  assert.equal(policy.backend.name, "wasm");
  assert.match(
    policy.backend.reason,
    /not installed; WebAssembly is ten to twenty times slower. To fix it: npm run setup$/,
  );
  policy.close();
  const probe = await probeBackend();
  assert.deepEqual(
    { name: probe.name, missing: probe.missing, mend: probe.fix },
    { name: "wasm", missing: "the native engine is not installed", mend: "npm run setup" },
  );
});

test("asking for the native library where there is none is an error with the command that fixes it", async () => {
  await assert.rejects(open("native"), (error: Error & { detail?: { action?: string } }) => {
    assert.match(error.message, /engine.backend is native, but the native engine is not installed/);
    assert.match(error.detail?.action ?? "", /npm run setup/);
    return true;
  });
});

test("what set-up found is said of a system that has none: why, and where to train instead", async () => {
  const record = {
    node: { path: process.execPath, version: "20.0.0", abi: "1" },
    sqlite: { driver: "none", reason: "it is carried" },
    engine: { backend: "wasm", reason: "TensorFlow is not made for it", mend: "train in WSL" },
  };
  const file = join(root, "node_modules", ".gradus", "setup.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(record));
  const policy = await open("auto");
  policy.close();
  rmSync(file);
  assert.match(
    policy.backend.reason,
    /^TensorFlow is not made for it; .* times slower. To fix it: train in WSL$/,
  );
});

test("small models run as streams on one thread each, large ones on all threads", () => {
  assert.equal(threadSettings(1e6, 4)["TF_NUM_INTRAOP_THREADS"], "1");
  assert.equal(threadSettings(1e6, 4)["TF_NUM_INTEROP_THREADS"], "4");
  assert.equal(threadSettings(1e8, 4)["TF_NUM_INTRAOP_THREADS"], "4");
});
