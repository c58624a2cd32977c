/**
 * WebGPU on the software Vulkan driver that Chromium brings: right, not fast. The comparison runs in a process of its own,
 * this file started again, because the loader reads where the driver is when a process begins.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { batch, compared, largestDifference, open, plan, stir, supervised } from "../unit/engine/support.ts";
import { findAdapter } from "../../server/engine/devices/webgpu.ts";

const CHILD = "GRADUS_TEST_WEBGPU";

const channels = ["logp", "entropy", "logsumexp"] as const;

async function compare(): Promise<Record<string, unknown>> {
  const adapter = await findAdapter();
  if (adapter === undefined) return { adapter: null };
  const native = await open({ threads: 1 });
  const webgpu = await open({ backend: "webgpu" });
  stir(native, 0.2);
  webgpu.writeWeights(native.readWeights());
  const { channels: scored, gradients, samples } = await compared(native, webgpu, channels);
  const largest: Record<string, number> = { ...scored };
  for (const [name, difference] of Object.entries(gradients)) largest[`gradient ${name}`] = difference;
  const [drawn, again] = samples;
  const same = drawn.every(({ tokens }, index) => tokens.join() === again[index]!.tokens.join());
  const { tensors } = webgpu.counters();
  for (const policy of [native, webgpu]) await policy.update(batch, plan(["logp"]), supervised);
  const before = webgpu.counters().tensors;
  const [w, v] = [native.readWeights(), webgpu.readWeights()];
  for (const [name, values] of Object.entries(w))
    largest[`updated ${name}`] = largestDifference(values, v[name]!);
  return {
    adapter,
    backend: webgpu.backend,
    largest: Math.max(...Object.values(largest)),
    compared: Object.keys(largest).length,
    same,
    grown: before - tensors,
  };
}

const driver = "vk_swiftshader_icd.json";

/** The folder with Chromium's Vulkan loader and software driver, or why there is none. */
function driverFolder(): { readonly folder: string } | { readonly skip: string } {
  if (process.platform !== "linux") return { skip: "the software driver is looked for on Linux only" };
  if (!existsSync("node_modules/webgpu")) return { skip: "the package webgpu is not installed" };
  const named = process.env["CHROMIUM"];
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "chromium"));
  const browsers = [...(named === undefined ? [] : [named]), ...onPath].filter((file) => existsSync(file));
  const folders = [
    ...browsers.map((file) => dirname(realpathSync(file))),
    "/usr/lib/chromium",
    "/usr/lib/chromium-browser",
  ];
  const folder = folders.find((one) =>
    [driver, "libvulkan.so.1"].every((name) => existsSync(join(one, name))),
  );
  return folder === undefined ? { skip: "no Chromium with a software Vulkan driver here" } : { folder };
}

if (process.env[CHILD] === "1") {
  const value = await compare();
  // Dawn keeps the event loop alive.
  process.stdout.write(`${JSON.stringify(value)}\n`, () => process.exit(0));
} else {
  const found = driverFolder();
  test(
    "WebGPU gives the native logits' channels, gradients, samples and update",
    { skip: "skip" in found && found.skip },
    async () => {
      assert.ok("folder" in found);
      const runtime = mkdtempSync(join(tmpdir(), "gradus-vulkan-"));
      try {
        const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url)], {
          env: {
            ...process.env,
            [CHILD]: "1",
            LD_LIBRARY_PATH: found.folder,
            VK_ICD_FILENAMES: join(found.folder, driver),
            XDG_RUNTIME_DIR: runtime,
          },
          timeout: 270_000,
        });
        const result = JSON.parse(stdout.trim().split("\n").at(-1)!);
        assert.ok(result.adapter?.software, stdout);
        assert.equal(result.backend.name, "webgpu");
        assert.match(result.backend.device, /swiftshader/i);
        assert.ok(result.compared > 20);
        assert.ok(result.largest < 1e-3, stdout);
        assert.equal(result.same, true);
      } finally {
        rmSync(runtime, { recursive: true, force: true });
      }
    },
  );
}
