/** What we write, opened by transformers itself. Wants a Python with torch and transformers in GRADUS_PEER_PYTHON. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { openBackend } from "../../../server/engine/devices/backend.ts";
import { openBase, readWeights, writeHuggingFace } from "../../../server/engine/formats/index.ts";
import { familyNames, folderOf, logitsOf } from "./families.ts";
import { batchOf, largestDifference, open, plan, randomRows, stir, supervised } from "./support.ts";

const python = process.env["GRADUS_PEER_PYTHON"];
const options = {
  skip: python === undefined ? "GRADUS_PEER_PYTHON names no Python with transformers" : false,
};

const answerSchema = z.object({
  logits: z.array(z.array(z.number())),
  loading: z.record(z.string(), z.array(z.string())),
  eos: z.union([z.int(), z.array(z.int())]),
  tokens: z.array(z.int()),
});
const rows = randomRows(
  [
    [6, 14],
    [1, 0],
    [3, 8],
  ],
  96,
);

/** Opens a folder on both sides; nothing may be missing or too much, and the logits must agree. */
async function compare(folder: string): Promise<void> {
  const script = join("test", "optional", "transformers.py");
  const ids = JSON.stringify(rows.map(({ context, tokens }) => [...context, ...tokens]));
  const printed = execFileSync(python!, [script, folder, ids], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const theirs = answerSchema.parse(JSON.parse(printed));
  assert.deepEqual(theirs.loading, { missing_keys: [], unexpected_keys: [], mismatched_keys: [] });
  const head = openBase(folder);
  const { runtime } = await openBackend("native", 2, 0);
  logitsOf(runtime, head.shape, readWeights(head), rows).forEach((logits, row) => {
    const difference = largestDifference(logits, theirs.logits[row]!);
    assert.ok(difference < 1e-4, `row ${row}: ${difference}`);
  });
  runtime.close();
  assert.equal(theirs.eos, head.tokenizer.eos);
  assert.deepEqual(theirs.tokens, [...head.tokenizer.encode("Ab c")]);
}

for (const name of familyNames) {
  test(`transformers loads the ${name} folder that we write, and answers alike`, options, async () => {
    const folder = mkdtempSync(join(tmpdir(), "gradus-hf-"));
    try {
      const head = openBase(folderOf(name));
      writeHuggingFace(folder, { ...head, weights: readWeights(head) });
      await compare(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test("transformers loads the checkpoint of a tiny model, and answers alike", options, async () => {
  const parent = mkdtempSync(join(tmpdir(), "gradus-hf-"));
  try {
    const policy = await open();
    stir(policy);
    await policy.update(batchOf(rows), plan(["logp"]), supervised);
    await policy.save(join(parent, "checkpoint"));
    policy.close();
    await compare(join(parent, "checkpoint"));
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
});
