/** Steps of which hardly anything can train: every preset gives numbers, or an error that says what is missing. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { it } from "node:test";
import { explain } from "../../../../server/analysis/explain/explain.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { configOf, row } from "../../support.ts";
import { close, explained } from "./support.ts";

function made(
  index: number,
  length: number,
  reward: number | null,
  more: Partial<RolloutRow> = {},
): RolloutRow {
  const each = (first: number): number[] => Array.from({ length }, (_, t) => first - 0.1 * t);
  return row("g", index, {
    tokens: Array.from({ length }, () => 3),
    rewards: { right: reward },
    logp_old: each(-1),
    logp_sampled: each(-0.9),
    logp_new: each(-1.2),
    logp_ref: each(-1.1),
    entropy: each(2),
    values: each(0.5),
    ...more,
  });
}
const steps: Readonly<Record<string, readonly RolloutRow[]>> = {
  "all masked": [made(0, 3, 1, { mask: [0, 0, 0] }), made(1, 2, 0, { mask: [0, 0] })],
  "all observed": [
    made(0, 2, 1, { origin: ["observed", "observed"] }),
    made(1, 1, 0, { origin: ["observed"] }),
  ],
  "an empty response": [made(0, 0, 1), made(1, 2, 0), made(2, 2, 1)],
  "responses of one token": [made(0, 1, 1), made(1, 1, 0)],
  "equal rewards": [made(0, 2, 1), made(1, 3, 1)],
  "a reward that is not a number": [made(0, 2, Number.NaN), made(1, 3, 1), made(2, 1, 0)],
  "an infinite reward": [made(0, 2, Number.POSITIVE_INFINITY), made(1, 3, 1), made(2, 1, 0)],
  "a reward that does not apply": [made(0, 2, null), made(1, 3, 1), made(2, 1, 0)],
  "no reward at all": [made(0, 2, null), made(1, 2, null)],
};

/** Every number of a line, whatever it is in; what does not exist is null. */
const numbers = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value).flatMap(numbers) : [value];
const finite = (value: unknown): boolean =>
  typeof value === "number" ? Number.isFinite(value) : value !== "NaN" && !/^-?Infinity$/.test(String(value));

const reward = "reward: { terms: { right: { use: equation } } }\n";
const presets = readdirSync("presets").flatMap((name) => /^(.*)\.yaml$/.exec(name)?.[1] ?? []);
const configs = presets.map((preset) =>
  configOf(`extends: ${preset}\ntasks: [{ env: countdown }]\n${reward}`, undefined, true),
);

for (const [name, rows] of Object.entries(steps))
  it(`${name}: no preset gives anything but numbers`, () => {
    let told = 0;
    for (const [i, config] of configs.entries())
      try {
        const recorded = rows.map((one, line) => ({ row: one, place: { file: "rollouts.jsonl", line } }));
        for (const line of explain(config, recorded)) {
          // A rollout's reward may be what was recorded.
          const counted = line.type === "rollout" ? [line.advantages, line.weights, line.grad_logp] : line;
          assert.ok(numbers(counted).every(finite), `${presets[i]}: ${JSON.stringify(line)}`);
        }
        told += 1;
      } catch (error) {
        // What a preset reads and these rollouts do not have: heads, greedy answers, pairs.
        if (!(error instanceof UserError)) throw error;
      }
    assert.ok(told > presets.length / 2, `${told} of ${presets.length}`);
  });

it("a reward that is not finite is an error of that rollout, which leaves its group", async () => {
  for (const name of [
    "a reward that is not a number",
    "an infinite reward",
    "a reward that does not apply",
  ]) {
    const { rollouts } = await explained(reward, steps[name]!);
    const half = 0.5 / (Math.SQRT1_2 + 1e-4);
    close(rollouts[0]!.advantages ?? [], [0, 0]);
    close(rollouts[1]!.advantages ?? [], [half, half, half]);
    close(rollouts[2]!.advantages ?? [], [-half]);
    close(rollouts[0]!.grad_logp ?? [], [0, 0]);
  }
});

it("a divergence of no token is no metric", async () => {
  const { steps: lines } = await explained(`extends: grpo-paper\n${reward}`, steps["all masked"]!);
  assert.equal(lines[0]!.loss, 0);
  assert.equal("policy/kl/reference" in lines[0]!.metrics, false);
});
