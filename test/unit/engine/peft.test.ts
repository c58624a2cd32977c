import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { z } from "zod";
import { openBase, readPeft, writePeft } from "../../../server/engine/formats/index.ts";
import type { Adapter } from "../../../server/engine/transformer/lowRank.ts";
import { folderOf } from "./families.ts";
import { batchOf, largestDifference, open, optimizer, plan, supervised, tinyModel } from "./support.ts";

const numbers = z.array(z.number());
const expectedSchema = z.object({
  rows: z.array(z.object({ context: numbers, tokens: numbers })),
  logp: z.array(numbers),
  gradients: z.record(z.string(), z.number()).optional(),
  losses: numbers.optional(),
});
const families = ["llama", "gemma3", "gpt2"] as const;
const adapterFolder = (name: string): string => join("test", "fixtures", "adapters", name);
const expectedOf = (name: string) =>
  expectedSchema.parse(JSON.parse(readFileSync(join(adapterFolder(name), "expected.json"), "utf8")));

const folder = mkdtempSync(join(tmpdir(), "gradus-peft-"));
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

const openWith = (name: (typeof families)[number], adapter: Adapter) =>
  open({
    model: { ...tinyModel(), base: folderOf(name), adapter },
    optimizer: optimizer({ lr: 1e-2, weight_decay: 0.1 }),
  });
/** PEFT's module → our target. */
const ours = (name: string): string => {
  const [, layer, module, side] = /layers\.(\d+)\.\w+\.(\w+)_proj\.lora_([AB])/.exec(name) ?? [];
  return `${layer}.${module}.${side}`;
};

for (const name of families) {
  test(`${name}: PEFT's adapter gives PEFT's log-probabilities, gradients and losses`, async () => {
    const { shape } = openBase(folderOf(name));
    const { adapter, weights } = readPeft(adapterFolder(name), shape);
    const policy = await openWith(name, adapter);
    policy.writeWeights(weights);
    const { rows, logp, gradients, losses } = expectedOf(name);
    const batch = batchOf(rows);
    const stats = await policy.score(batch, { model: "policy", channels: ["logp"] });
    assert.ok(largestDifference(stats.logp!, logp.flat()) < 1e-4);
    if (gradients !== undefined) {
      const found = policy.gradients(batch, plan(["logp"]), supervised);
      assert.deepEqual(Object.keys(gradients).map(ours).sort(), Object.keys(found).sort());
      for (const [theirs, norm] of Object.entries(gradients)) {
        const length = Math.hypot(...found[ours(theirs)]!);
        assert.ok(Math.abs(length - norm) < 1e-3 * norm + 1e-6, `${theirs}: ${length} for ${norm}`);
      }
    }
    for (const loss of losses ?? []) {
      const step = await policy.update(batch, plan(["logp"]), supervised);
      assert.ok(Math.abs(step.loss - loss) < 5e-5, `${step.loss} for ${loss}`);
    }
    policy.close();
  });

  test(`${name}: an adapter that is written and read is the same, byte by byte`, () => {
    const { shape } = openBase(folderOf(name));
    const read = readPeft(adapterFolder(name), shape);
    const [first, second] = [join(folder, name, "1"), join(folder, name, "2")];
    writePeft(first, { shape, ...read, base: "base" });
    const again = readPeft(first, shape);
    assert.deepEqual(again.weights, read.weights);
    assert.ok(Math.abs(again.adapter.alpha - read.adapter.alpha) < 1e-9);
    writePeft(second, { shape, ...again, base: "base" });
    for (const file of ["adapter_config.json", "adapter_model.safetensors"])
      assert.deepEqual(readFileSync(join(second, file)), readFileSync(join(first, file)));
  });
}

test("an adapter that asks for more than this engine computes is refused by the key", () => {
  const { shape } = openBase(folderOf("llama"));
  const config = JSON.parse(readFileSync(join(adapterFolder("llama"), "adapter_config.json"), "utf8"));
  const changed = (more: Record<string, unknown>): string => {
    const target = join(folder, "changed");
    cpSync(adapterFolder("llama"), target, { recursive: true });
    writeFileSync(join(target, "adapter_config.json"), JSON.stringify({ ...config, ...more }));
    return target;
  };
  for (const [more, message] of [
    [{ use_dora: true }, /use_dora is true/],
    [{ bias: "all" }, /bias is "all"/],
    [{ modules_to_save: ["lm_head"] }, /modules_to_save is \["lm_head"\]/],
    [{ peft_type: "IA3" }, /peft_type is IA3/],
    [{ r: "three" }, /does not describe an adapter: r:/],
    [{ alpha_pattern: { q_proj: 1 } }, /different ranks or scales/],
  ] as const)
    assert.throws(() => readPeft(changed(more), shape), message);
  assert.throws(
    () => readPeft(adapterFolder("llama"), openBase(folderOf("gpt2")).shape),
    /not part of this model/,
  );
  assert.throws(
    () => readPeft(changed({}), { ...shape, width: 64, head_width: 16, hidden: 96 }),
    /should have the extents/,
  );
});
