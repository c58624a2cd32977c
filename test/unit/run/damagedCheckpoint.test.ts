/** One flipped bit in any file of a checkpoint is noticed by everything that goes on from it. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { checkpointFolder, checkpointSteps, readState } from "../../../server/run/checkpoint/checkpoint.ts";
import { openCheckpoint } from "../../../server/run/checkpoint/checkpoints.ts";
import { takeCheckpoint } from "../../../server/run/checkpoint/fork.ts";
import { damageIn, sumsFile } from "../../../server/run/checkpoint/sums.ts";
import { readLoopState } from "../../../server/run/loop/loop.ts";
import { work } from "../../../server/run/loop/worker.ts";
import { recordRun } from "../../support/storedRun.ts";
import { ofKind, readLog } from "../../support/runFolder.ts";
import { UserError } from "../../../shared/lib/errors.ts";

const config = `name: tiny
model: { base: tiny, width: 16, layers: 1, heads: 1, hidden: 16, context: 32 }
tasks: [{ env: reverse_text, lengths: [2] }]
rollout: { prompts: 2, group: 2, max_tokens: 4 }
reward: { terms: { correct: exact_match } }
update: { optimizer: { use: adamw, lr: 1.0e-3 } }
stages: [{ name: practice, steps: 4 }]
checkpoint: { every: 1, keep: 10 }
seed: 1
`;
const base = realpathSync(mkdtempSync(join(tmpdir(), "gradus-damaged-")));
const store = join(base, ".gradus");
const run = join(store, "runs", "one");
const newest = (): string => checkpointFolder(run, checkpointSteps(run).at(-1)!);
before(async () => {
  const file = join(base, "tiny.gradus.yaml");
  writeFileSync(file, config);
  await recordRun(store, file);
});
after(() => rmSync(base, { recursive: true, force: true }));

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** While one bit of the file is another. */
async function flipped(file: string, at: number, act: () => unknown): Promise<void> {
  const bytes = readFileSync(file);
  const other = Buffer.from(bytes);
  other[at] = other[at]! ^ 1;
  writeFileSync(file, other);
  await act();
  writeFileSync(file, bytes);
}

test("one flipped bit in any file of a checkpoint is noticed, and the file is named", async () => {
  const folder = newest();
  const files = filesIn(folder);
  for (const name of ["state.json", "state.bin", "SHA256SUMS", "model.safetensors", "optimizer.safetensors"])
    assert.ok(
      files.some((file) => basename(file) === name),
      name,
    );
  assert.equal(damageIn(folder), undefined);
  for (const file of files) {
    const { length } = readFileSync(file);
    for (const at of length === 0 ? [] : new Set([0, length >> 1, length - 1]))
      await flipped(file, at, async () => {
        const noticed = (error: unknown): boolean =>
          error instanceof UserError &&
          error.detail.code === "checkpoint-damaged" &&
          error.message.includes(folder);
        assert.throws(() => readState(folder), noticed, `${file} ${at}`);
        await assert.rejects(
          openCheckpoint(join(folder, "policy"), 1, { answers: 1, max_tokens: 1 }),
          noticed,
        );
        if (!file.endsWith(sumsFile)) assert.equal(damageIn(folder)?.file, file);
      });
  }
});

test("a list of sums that was cut is damage, and a checkpoint without one is read as ever", () => {
  const sums = join(newest(), sumsFile);
  const text = readFileSync(sums, "utf8");
  const lines = text.split("\n");
  for (const cut of [
    "",
    `${lines.slice(0, -2).join("\n")}\n`,
    text.slice(0, -1),
    `${"0".repeat(64)}  ../../run.json\n${text}`,
  ]) {
    writeFileSync(sums, cut);
    assert.equal(damageIn(newest())?.file, sums);
  }
  rmSync(sums);
  assert.ok(readState(newest()).step > 0);
  writeFileSync(sums, text);
});

test("a fork's checkpoint is whole, also where it says another place in the stages", () => {
  const to = join(base, "fork");
  const step = checkpointSteps(run).at(-1)!;
  takeCheckpoint(run, to, step, readLoopState(readState(newest()).loop));
  assert.equal(damageIn(checkpointFolder(to, step)), undefined);
  assert.equal(damageIn(newest()), undefined);
});

test("resuming from damage names what to move away and the newest checkpoint that is whole", async () => {
  const [first, second, third] = checkpointSteps(run).slice(-3);
  for (const step of [second!, third!]) {
    const file = join(checkpointFolder(run, step), "policy", "model.safetensors");
    const bytes = readFileSync(file);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(file, bytes);
  }
  await work({ folder: run, attempt: 1, version: "0.0.0" });
  const end = ofKind(readLog(run, 1), "end").at(-1);
  assert.equal(end?.status, "failed");
  assert.match(end.message ?? "", /model\.safetensors.*SHA-256/);
  const [failure] = ofKind(readLog(run, 1), "event").filter(({ severity }) => severity === "error");
  const said = JSON.stringify([end, failure]);
  assert.match(
    said,
    new RegExp(`Move .*[\\\\/]${second}, .*[\\\\/]${third} away.*checkpoint of step ${first}\\.`),
  );
});
