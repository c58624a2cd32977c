/** Weights from one process to another: whole versions only, whatever was published last. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import {
  followWeights,
  publishedVersion,
  publishWeights,
  readPublished,
} from "../../../server/engine/weights/publish.ts";
import { build } from "esbuild";
import { collect, largestDifference, open, stir } from "./support.ts";

const temporary = (): string => mkdtempSync(join(tmpdir(), "gradus-publish-"));

test("a process sees each version that another publishes, whole", async () => {
  const folder = temporary();
  const file = join(folder, "weights", "policy.safetensors");
  const script = join(folder, "publisher.mjs");
  await build({
    entryPoints: [resolve("test/support/publisher.ts")],
    outfile: script,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  const size = 1_000_000;
  const publisher = spawn(process.execPath, [script, file, String(size)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const abort = new AbortController();
  try {
    const seen: number[] = [];
    publisher.stdin.write("next\n");
    for await (const { version, weights } of followWeights(file, { after: 0, signal: abort.signal })) {
      seen.push(version);
      assert.equal(weights["w"]!.length, size);
      assert.ok(
        weights["w"]!.every((value) => value === version),
        "a file of one version",
      );
      if (version === 3) break;
      publisher.stdin.write("next\n");
    }
    assert.deepEqual(seen, [1, 2, 3]);
    assert.deepEqual(readdirSync(join(folder, "weights")), ["policy.safetensors"], "no draft is left");
  } finally {
    abort.abort();
    publisher.stdin.end();
    await once(publisher, "exit");
    rmSync(folder, { recursive: true });
  }
});

test("what a resumed run publishes is taken, though it is an earlier version; what lay there before is not", async () => {
  const folder = temporary();
  const file = join(folder, "policy.safetensors");
  const abort = new AbortController();
  const publish = (version: number): void =>
    publishWeights(file, { version, weights: { w: Float32Array.of(version) } });
  const follower = followWeights(file, { after: 6, signal: abort.signal });
  try {
    publish(5);
    const seen: number[] = [];
    const first = follower.next();
    for (const [version, next] of [
      [9, first],
      [7, undefined],
      [7, undefined],
    ] as const) {
      publish(version);
      const { value } = await (next ?? follower.next());
      seen.push(value?.weights["w"]![0] ?? -1);
    }
    assert.deepEqual(seen, [9, 7, 7]);
  } finally {
    abort.abort();
    // It waits where it gave its last version, and holds its watcher until then.
    await follower.return(undefined);
    rmSync(folder, { recursive: true });
  }
});

test("a policy that adopts published weights answers as the one that trained them", async () => {
  const folder = temporary();
  const file = join(folder, "policy.safetensors");
  const [trained, served] = [await open(), await open({ seed: 8 })];
  try {
    stir(trained);
    publishWeights(file, { version: 41, weights: trained.readTrained() });
    const { version, weights } = readPublished(file);
    const before = served.counters().tensors;
    served.adopt(weights, version);
    assert.equal(served.counters().tensors, before);
    assert.equal(served.version, 41);
    const prompts = [{ tokens: Int32Array.of(5, 6, 7), key: ["a"] }];
    const [ours] = await collect(trained, prompts);
    const [theirs] = await collect(served, prompts);
    assert.deepEqual(theirs!.tokens, ours!.tokens);
    assert.equal(largestDifference(theirs!.logp_old, ours!.logp_old), 0);
    assert.ok(theirs!.versions.every((value) => value === 41));
    assert.throws(
      () => served.adopt({ ...weights, norm: new Float32Array(3) }, 42),
      /norm should have 16 values/,
    );
    assert.equal(served.version, 41);
  } finally {
    trained.close();
    served.close();
    rmSync(folder, { recursive: true });
  }
});

test("what is no published file says so, and a follower that is asked to end ends", async () => {
  const folder = temporary();
  const file = join(folder, "policy.safetensors");
  try {
    assert.equal(publishedVersion(file), undefined);
    assert.throws(() => readPublished(file), /no such file/);
    writeFileSync(file, "not a safetensors file at all");
    assert.throws(() => publishedVersion(file), /does not hold published weights/);
    publishWeights(file, { version: 7, weights: { w: Float32Array.of(1, 2) } });
    truncateSync(file, 40);
    assert.throws(() => readPublished(file), /policy.safetensors/);
    publishWeights(file, { version: 8, weights: { w: Float32Array.of(1, 2) } });
    const abort = new AbortController();
    const follower = followWeights(file, { after: 8, signal: abort.signal });
    const next = follower.next();
    abort.abort();
    assert.equal((await next).done, true, "version 8 is held already");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
