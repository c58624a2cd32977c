/** The gain of imitation over reinforcement is how fast a lookahead step's validation loss falls with the share of imitation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { tokensOf } from "../../../server/algorithm/advantages/tokenColumn.ts";
import type { Batch } from "../../../server/core/rollouts.ts";
import type { Weigh } from "../../../server/core/policy.ts";
import { imitationGain } from "../../../server/run/stages/mixedGradients.ts";
import { demonstrated } from "../../../server/run/stages/ownLikelihood.ts";
import type { StepContext } from "../../../server/run/step/context.ts";
import { batchOf, open, randomRows, stir } from "../engine/support.ts";

const channels = ["logp"] as const;
const likelihood = demonstrated({ entropy: 0, gap: 0 });
/** A policy gradient with advantages that differ by token. */
const reinforced: Weigh = (now, batch) => {
  const gradients = Float64Array.from(batch.tokens, (_, t) => (t % 3) - 1);
  return {
    loss: gradients.reduce((sum, g, t) => sum + g * now.logp![t]!, 0),
    gradients: { logp: gradients },
  };
};

test("⟨∇L_val, ∇L_SFT − ∇L_RL⟩ against the losses of lookahead steps", async () => {
  const policy = await open();
  stir(policy);
  const [first, second, third] = randomRows([
    [3, 6],
    [2, 5],
    [4, 7],
  ]).map((row) => batchOf([row])) as [Batch, Batch, Batch];
  const algorithm = {
    needs: () => ({ channels, unit: "sequence" }),
    weigh: () => reinforced,
  };
  const session = { policy, models: { get: () => policy } };
  const context = { stage: { algorithm }, session, clock: {} } as unknown as StepContext;
  const zeros = new Float64Array(third.tokens.length);
  const train = {
    ...{ batch: third, old: {}, weights: zeros.map(() => 1) },
    advantages: { tokens: zeros, rows: new Float64Array(1), exists: new Uint8Array(third.tokens.length) },
    scored: {
      combined: { sources: [], total: new Float64Array(1), errored: new Uint8Array(1) },
      success: new Uint8Array(1),
    },
  };
  assert.equal(tokensOf(train.weights).length, third.tokens.length);
  const gain = imitationGain(
    context,
    train,
    { batch: first, channels, weigh: likelihood },
    { batch: second, channels, weigh: likelihood },
  );

  const plan = { channels, unit: "sequence" } as const;
  const start = policy.readTrained();
  const imitation = policy.gradients(first, plan, likelihood);
  const reinforcement = policy.gradients(third, plan, reinforced);
  const lr = 1e-3;
  const lossAt = async (share: number): Promise<number> => {
    const moved = Object.entries(start).map(([name, values]) => [
      name,
      values.map(
        (value, i) =>
          value - lr * (share * (imitation[name]?.[i] ?? 0) + (1 - share) * (reinforcement[name]?.[i] ?? 0)),
      ),
    ]);
    policy.writeWeights(Object.fromEntries(moved) as Record<string, Float32Array>);
    const { logp } = await policy.score(second, { model: "policy", channels });
    return -logp!.reduce((sum, one) => sum + one, 0) / logp!.length;
  };
  const fall = (await lossAt(0)) - (await lossAt(1));
  policy.close();
  assert.ok(Math.abs(fall - lr * gain) < 0.05 * Math.abs(fall), `${fall} is not ${lr * gain}`);
});
