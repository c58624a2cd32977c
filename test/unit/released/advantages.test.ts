/** Presets compared with released code whose advantages are standardised over tokens: R1-Reward's StableReinforce and VinePPO. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explained, close } from "../analysis/explain/support.ts";
import { configOf, row } from "../support.ts";

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const reward = "reward: { terms: { right: { use: equation } } }\n";
const bodyOf = (preset: string) => configOf(`extends: ${preset}\ntasks: [{ env: countdown }]\n${reward}`).top;
/** Lengths of responses, and numbers that differ from token to token. */
const lengths = [3, 2, 4, 1, 3, 2, 4, 3, 2, 3, 4, 2, 3];
const wave = (i: number, t: number, size: number): number => size * Math.sin(7 * i + 3 * t + 1);
const old = lengths.map((n, i) => Array.from({ length: n }, (_, t) => -1 + wave(i, t, 0.5)));
const by = (size: number): number[][] =>
  old.map((list, i) => list.map((value, t) => value + wave(t, i, size)));

test("StableReinforce: KL inside the returns, standardised over all tokens, beyond 3 dropped, ratios held", async () => {
  // One response in thirteen is right: its tokens lie more than three deviations out.
  const [paid, drifted] = [lengths.map((_, i) => (i === 3 ? 1 : 0)), by(0.3)];
  drifted[0]![0] = old[0]![0]! + 9;
  drifted[0]![1] = old[0]![1]! - 9;
  const reference = by(0.2);
  const { rollouts } = await explained(
    "extends: stable-reinforce",
    paid.map((reward, i) =>
      row(`g${i}`, 0, { reward, logp_old: old[i]!, logp_new: drifted[i]!, logp_ref: reference[i]! }),
    ),
  );
  const returns = old.map((list, i) =>
    list.map(
      (_, t) => paid[i]! - 0.001 * sum(list.slice(t).map((value, k) => value - reference[i]![t + k]!)),
    ),
  );
  const all = returns.flat();
  const mean = sum(all) / all.length;
  const scale = 1 / Math.sqrt(Math.max(sum(all.map((value) => (value - mean) ** 2)) / all.length, 1e-8));
  const advantages = returns.map((list) =>
    list.map((value) => (((value - mean) * scale) ** 2 > 9 ? 0 : (value - mean) * scale)),
  );
  assert.deepEqual(advantages[3], [0], "the case drops nobody");
  rollouts.forEach(({ grad_logp, advantages: found }, i) => {
    close(found ?? [], advantages[i]!, 1e-8);
    close(
      grad_logp ?? [],
      old[i]!.map((value, t) => {
        const moved = drifted[i]![t]! - value;
        const ratio = Math.exp(Math.min(Math.log(1e3), Math.max(Math.log(1e-3), moved)));
        const a = advantages[i]![t]!;
        const still = a > 0 ? ratio > 1.2 : ratio < 0.8;
        // What is held has no derivative.
        const held = Math.abs(moved) > Math.log(1e3);
        return still || held ? 0 : (-a * ratio) / (lengths[i]! * lengths.length);
      }),
      1e-8,
    );
  });
});

test("StableReinforce: one rollout a prompt, two updates a step", () => {
  const { rollout, update, kl } = bodyOf("stable-reinforce");
  assert.equal(rollout.group, 1);
  assert.equal(rollout.prompts, 2 * update.mini_batch!);
  assert.deepEqual(
    kl.map(({ place, coefficient, estimator }) => [place, coefficient, estimator.declaration.name]),
    [["reward", 0.001, "k1"]],
  );
});

test("VinePPO: differences of values from step to step, standardised over the tokens that train", async () => {
  const [paid, drifted, reference] = [lengths.map((_, i) => (i % 3 === 0 ? 1 : 0)), by(0.3), by(0.2)];
  /** Of a step's beginning; the second step of a response starts at its second token. */
  const value = (i: number, k: number): number => 0.5 + wave(i, k, 0.4);
  const { rollouts } = await explained(
    "extends: vineppo",
    paid.map((reward, i) =>
      row("g", i, {
        reward,
        logp_old: old[i]!,
        logp_new: drifted[i]!,
        logp_ref: reference[i]!,
        steps:
          lengths[i]! === 1
            ? [[0, 1]]
            : [
                [0, 1],
                [1, lengths[i]!],
              ],
        values: old[i]!.map((_, t) => value(i, t)),
      }),
    ),
  );
  const raw = old.map((list, i) =>
    list.map((_, t) => {
      if (lengths[i] === 1) return paid[i]! - value(i, 0);
      return t === 0 ? value(i, 1) - value(i, 0) : paid[i]! - value(i, 1);
    }),
  );
  const all = raw.flat();
  const mean = sum(all) / all.length;
  const variance = sum(all.map((a) => (a - mean) ** 2)) / (all.length - 1);
  rollouts.forEach(({ advantages, grad_logp }, i) => {
    const wanted = raw[i]!.map((a) => (a - mean) / Math.sqrt(variance + 1e-8));
    close(advantages ?? [], wanted, 1e-9);
    close(
      grad_logp ?? [],
      wanted.map((a, t) => {
        const ratio = Math.exp(drifted[i]![t]! - old[i]![t]!);
        const still = a > 0 ? ratio > 1.2 : ratio < 0.8;
        const kl = 1 - Math.exp(reference[i]![t]! - drifted[i]![t]!);
        return ((still ? 0 : -a * ratio) + 0.0001 * kl) / all.length;
      }),
      1e-9,
    );
  });
});

test("VinePPO: two passes over each step in mini-batches of 64, nine continuations", () => {
  const { update, advantage } = bodyOf("vineppo");
  assert.deepEqual(
    { epochs: update.epochs, mini_batch: update.mini_batch, k: advantage.baseline.params["k"] },
    { epochs: 2, mini_batch: 64, k: 9 },
  );
});
