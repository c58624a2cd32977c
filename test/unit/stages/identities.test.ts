/** Identities of the papers on stages, through what presets come to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { valueAt } from "../../../server/core/schedule.ts";
import type { RunConfig } from "../../../server/core/config/runConfig.ts";
import { Chain, close, paid } from "../methods/advantage/support.ts";
import { configOf, near } from "../support.ts";

const tasks = "tasks: [{ env: countdown }]\nreward: { terms: { correct: equation } }\n";
const at = (step: number) => ({ step, stageStep: step });
type Coefficient = RunConfig["top"]["kl"][number]["coefficient"];
function weightAt(coefficient: Coefficient | undefined, step: number): number {
  assert.ok(typeof coefficient === "number" || (coefficient && "schedule" in coefficient));
  return valueAt(coefficient, at(step));
}

test("RLP: advantages are G/(G − 1)·(r − mean), which is the leave-one-out baseline", () => {
  const { advantage } = configOf(`extends: rlp\n${tasks}`).top;
  const { baseline, scale } = advantage;
  const names = `{ baseline: ${baseline.declaration.name}, scale: ${scale.declaration.name} }`;
  const gain = new Chain(names);
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 2, maxLength: 16 }),
      (gains) => {
        const [n, mean] = [gains.length, gains.reduce((sum, r) => sum + r, 0) / gains.length];
        const expected = gains.map((r) => Array<number>(2).fill((n / (n - 1)) * (r - mean)));
        close(gain.tokens(gains.map((r, i) => paid("g", i, r))), expected, 1e-9);
      },
    ),
    { numRuns: 50 },
  );
});

test("ReMix: λ of one divergence and 1 − λ of the other, from 1 by tenths to one half", () => {
  const { kl } = configOf(`extends: remix\n${tasks}`).top;
  const [base, last] = kl.map(({ coefficient }) => coefficient);
  const seen = new Set<number>();
  for (let step = 0; step <= 120; step++) {
    const [a, b] = [weightAt(base, step), weightAt(last, step)];
    assert.ok(near(a + b, 0.01), `step ${step}`);
    seen.add(Math.round(100 * a * 10) / 10);
  }
  assert.deepEqual([...seen], [1, 0.9, 0.8, 0.7, 0.6, 0.5]);
});

test("KDRL: the distillation's weight falls from 5e-3 to 1e-3", () => {
  const [entry] = configOf(`extends: kdrl\n${tasks}`).top.kl;
  const values = [0, 50, 100, 1000].map((step) => weightAt(entry!.coefficient, step));
  [0.005, 0.003, 0.001, 0.001].forEach((value, i) => assert.ok(near(values[i], value)));
});

test("R1-Searcher: half for the form first; then a broken form costs 2 compared with a whole one", () => {
  const { stages } = configOf(`extends: r1-searcher\n${tasks}`);
  const weights = stages.map(({ body }) =>
    valueAt(body.reward.terms.find(({ name }) => name === "form")!.weight, at(0)),
  );
  assert.deepEqual(weights, [0.5, 2]);
});
