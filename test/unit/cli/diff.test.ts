/** `gradus runs diff` on two checkpoints of a run. */
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gradus } from "../../support/cli.ts";
import { minimal, testRun, type TestRun } from "../../support/runFolder.ts";
import { temporary } from "../support.ts";

let run: TestRun;
let [early, late] = ["", ""];
const folder = temporary();
before(async () => {
  run = testRun([
    "stages.warm-up.steps=6",
    "stages.practice.steps=1",
    "checkpoint.every=2",
    "checkpoint.keep=9",
  ]);
  assert.equal(await run.work(), 0, run.ending());
  [early, late] = [`${run.folder}@1`, `${run.folder}@5`];
});
after(() => {
  run.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Told {
  total: { parameters: number; moved: number; change: number; overlap?: { moved: { jaccard: number } } };
  layers: { layer: number | string }[];
  kinds: { kind: string; parameters: number }[];
  matrices: { geometry?: { angles: { left: number[] } } }[];
  left_out: unknown[];
  cka?: { texts: number; depths: { cka: number; cka_unbiased: number }[] };
}
const told = async (...words: string[]): Promise<Told> => {
  const { code, stdout, stderr } = await gradus(["runs", "diff", ...words, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Told;
};

describe("gradus runs diff", () => {
  it("tells what supervised steps did to every weight", async () => {
    const { total, layers, kinds, matrices, left_out, cka } = await told(early, late, "--top-k", "3");
    assert.ok(total.moved > 0.5 && total.moved <= 1);
    assert.ok(total.change > 0 && total.change < 1);
    assert.deepEqual(
      layers.map(({ layer }) => layer),
      ["embedding", 0, "norm"],
    );
    assert.equal(
      kinds.reduce((sum, { parameters }) => sum + parameters, 0),
      total.parameters,
    );
    assert.ok(matrices.every(({ geometry }) => geometry === undefined || geometry.angles.left.length === 3));
    assert.deepEqual(left_out, []);
    assert.equal(cka, undefined);
  });

  it("reads the states of a config's held-out prompts, or of a file's lines, layer by layer", async () => {
    const { cka } = await told(early, late, "--texts", minimal);
    assert.equal(cka!.texts, 16);
    assert.equal(cka!.depths.length, 2);
    for (const { cka: value } of cka!.depths) assert.ok(value > 0.3 && value < 1 - 1e-6, String(value));
    const file = join(folder, "texts.txt");
    writeFileSync(file, "one text\n\nanother text\nand a third\n");
    assert.equal((await told(early, late, "--texts", file)).cka!.texts, 3);
    writeFileSync(file, "alone\n");
    const { code, stderr } = await gradus(["runs", "diff", early, late, "--texts", file]);
    assert.equal(code, 1);
    assert.match(stderr, /States of one text cannot be aligned\./);
  });

  it("compares what two checkpoints moved from a third", async () => {
    const { total } = await told(`${run.folder}@3`, late, "--base", early);
    assert.ok(total.overlap!.moved.jaccard > 0.5);
  });

  it("prints tables that fit 80 columns", async () => {
    const { stdout } = await gradus([
      "runs",
      "diff",
      early,
      late,
      "--base",
      early,
      "--texts",
      minimal,
      "--side",
      "20",
    ]);
    const lines = stdout.split("\n");
    // A path is not broken.
    assert.ok(lines.every((line) => line.includes(run.folder) || [...line].length <= 80));
    assert.match(stdout, /^layer +weights +moved +bf16 +change +CKA$/m);
    assert.match(stdout, /^down +[\d,]+ +[\d.]+ % +[\d.]+ %/m);
    assert.match(stdout, /Without singular values: \d+ matrices larger than 20 × 160:\s+model\.embed_tokens/);
    assert.match(stdout, /moved: neither moved any|moved: Jaccard/);
  });

  it("says where two are the same, and refuses what is no checkpoint", async () => {
    const same = await gradus(["runs", "diff", late, late]);
    assert.match(same.stdout, /have\s+the\s+same\s+weights,\s+bit\s+by\s+bit\./);
    const none = await gradus(["runs", "diff", late, join(folder, "none")]);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /is not a checkpoint: it does not exist\./);
    const wrong = await gradus(["runs", "diff", late, late, "--alpha", "2"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /Write a number between 0 and 1\./);
  });
});
