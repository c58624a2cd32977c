/** Pairwise losses and clipped value losses against TRL's, verl's and OpenRLHF's own functions. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { dpo } from "../../../../server/methods/objective/pairs/dpo.ts";
import { exo } from "../../../../server/methods/objective/pairs/exo.ts";
import { ipo } from "../../../../server/methods/objective/pairs/ipo.ts";
import { kto } from "../../../../server/methods/objective/pairs/kto.ts";
import { orpo } from "../../../../server/methods/objective/pairs/orpo.ts";
import { tokenMean } from "../../../../server/methods/objective/aggregates/tokenMean.ts";
import { sequenceMean } from "../../../../server/methods/objective/aggregates/sequenceMean.ts";
import { valueClipped } from "../../../../server/methods/objective/values/valueClipped.ts";
import type { Channel } from "../../../../server/core/policy.ts";
import type { Objective, ObjectiveInput } from "../../../../server/core/loss.ts";
import { batchOf, made, row } from "../../support.ts";
import { factorsOf } from "./differences.ts";

const ragged = z.array(z.array(z.number()));
const result = z.object({ loss: z.number(), gradients: ragged });
const losses = [
  "sigmoid",
  "hinge",
  "ipo",
  "exo_pair",
  "robust",
  "sigmoid_norm",
  "apo_zero_unpaired",
  "orpo",
] as const;
const peers = z
  .object({
    beta: z.number(),
    now: ragged,
    reference: ragged,
    sigmoid: result,
    hinge: result,
    ipo: result,
    exo_pair: result,
    robust: result,
    sigmoid_norm: result,
    apo_zero_unpaired: result,
    orpo: result,
    values: z.object({ now: ragged, old: ragged, returns: ragged, verl: result, openrlhf: result }),
  })
  .parse(JSON.parse(readFileSync("test/fixtures/preferences/preferences.json", "utf8")));

const flat = (rows: readonly (readonly number[])[]): Float64Array => Float64Array.from(rows.flat());
const batch = batchOf(
  peers.now.map((tokens, index) => row("g", index, { tokens: tokens.map(() => 1), pair: String(index % 3) })),
);
const ones = flat(peers.now).fill(1);
const right = [1, 1, 1, 0, 0, 0];
const base: ObjectiveInput = {
  batch,
  now: { logp: flat(peers.now) },
  old: { "logp:reference": flat(peers.reference) },
  advantages: Float64Array.from(peers.now.flatMap((tokens, index) => tokens.map(() => right[index]!))),
  success: Uint8Array.from(right),
  weights: ones,
  factors: factorsOf(made(sequenceMean, {}), ones, batch),
};

function agrees(
  objective: Objective,
  input: ObjectiveInput,
  channel: Channel,
  expected: z.output<typeof result>,
  tolerance = 1e-12,
): void {
  const { loss, gradients } = objective.loss(input);
  const wanted = flat(expected.gradients);
  const scale = wanted.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  assert.ok(
    Math.abs(loss - expected.loss) <= tolerance * Math.max(1, Math.abs(loss)),
    `${loss}, not ${expected.loss}`,
  );
  wanted.forEach((value, t) =>
    assert.ok(
      Math.abs(gradients[channel]![t]! - value) <= tolerance * scale,
      `${gradients[channel]![t]}, not ${value}, at ${t}`,
    ),
  );
}

const { beta } = peers;
const pairs = "recorded";
const cases: Readonly<Record<(typeof losses)[number], Objective>> = {
  sigmoid: made(dpo, { beta, pairs }),
  hinge: made(dpo, { beta, pairs, link: "hinge" }),
  robust: made(dpo, { beta, pairs, link: "robust", label_smoothing: 0.1 }),
  sigmoid_norm: made(dpo, { beta, pairs, normalise: true }),
  ipo: made(ipo, { beta, pairs, normalise: true }),
  exo_pair: made(exo, { beta, pairs, label_smoothing: 0.1 }),
  apo_zero_unpaired: made(kto, { beta, kl: "none", desirable: 1.5, undesirable: 0.5 }),
  orpo: made(orpo, { lambda: 0.25, sft: 0, pairs }),
};

for (const name of losses)
  test(`TRL's ${name}`, () => {
    // TRL's odds ratio is in float32.
    agrees(cases[name], base, "logp", peers[name], name === "orpo" ? 2e-6 : 1e-12);
  });

for (const framework of ["verl", "openrlhf"] as const)
  test(`the clipped value loss of ${framework}`, () => {
    const { now, old, returns } = peers.values;
    const input: ObjectiveInput = {
      ...base,
      batch: { ...batch, columns: { values: flat(old), returns: flat(returns) } },
      now: { "head:value": flat(now) },
      factors: factorsOf(made(tokenMean, {}), ones, batch),
    };
    agrees(made(valueClipped, { clip: 0.3 }), input, "head:value", peers.values[framework]);
  });
