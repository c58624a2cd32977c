/** OREO's KL term compared with that of its released scripts: exact, reverse, averaged over each response. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Algorithm, contextOf } from "../../../server/algorithm/algorithm.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { batchOf } from "../../support/batch.ts";
import { configOf, near } from "../support.ts";

test("OREO: 0.01 of the exact divergence from the reference, the mean over a response's tokens first", () => {
  const body = configOf(
    "extends: oreo\ntasks: [{ env: countdown }]\nreward: { terms: { right: equation } }\n",
  ).top;
  const algorithm = new Algorithm(body, contextOf(body, { random: randomStream(1) }));
  const clock = { step: 0, stageStep: 0 };
  const batch = batchOf(
    [
      { context: [1], tokens: [2, 3, 4] },
      { context: [1], tokens: [5] },
    ],
    { returns: new Float64Array(4) },
  );
  const channel = algorithm.needs(clock).channels.find((name) => name.startsWith("kl:"));
  assert.ok(channel, "no channel has the divergence over the vocabulary");
  // Σ_v π(v) log(π(v)/π_ref(v)) of four made-up pairs of distributions.
  const policy = [
    [0.7, 0.3],
    [0.5, 0.5],
    [0.9, 0.1],
    [0.2, 0.8],
  ];
  const reference = [
    [0.6, 0.4],
    [0.2, 0.8],
    [0.5, 0.5],
    [0.3, 0.7],
  ];
  const exact = Float64Array.from(policy, (p, t) =>
    p.reduce((total, at, v) => total + at * Math.log(at / reference[t]![v]!), 0),
  );
  const flat = Float64Array.of(-1, -1, -1, -1);
  const known = { tokens: new Float64Array(4), rows: new Float64Array(2), exists: new Uint8Array(4).fill(1) };
  const old = { logp: flat, "logp:reference": flat };
  const weights = algorithm.tokenWeights(batch, known, old, clock);
  const loss = (divergence: Float64Array) =>
    algorithm.weigh({ old, advantages: known.tokens, weights }, clock)(
      { logp: flat, entropy: new Float64Array(4), "head:value": new Float64Array(4), [channel]: divergence },
      batch,
    );
  const [there, none] = [loss(exact), loss(new Float64Array(4))];
  const wanted = (0.01 * ((exact[0]! + exact[1]! + exact[2]!) / 3 + exact[3]!)) / 2;
  assert.ok(near(there.loss - none.loss, wanted, 1e-9), `${there.loss - none.loss} is not ${wanted}`);
  const shares = [0.01 / 6, 0.01 / 6, 0.01 / 6, 0.01 / 2];
  shares.forEach((share, t) => assert.ok(near(there.gradients[channel]?.[t], share, 1e-12)));
});
