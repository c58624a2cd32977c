/** What `gradus explain` says of rollouts that a route takes out of training. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { explained, oneTerm, paidRow } from "./support.ts";

const text = (to: string): string =>
  `${oneTerm}advantage: { baseline: group_mean, scale: none }\nroute: [{ when: all_wrong, to: ${to} }]\n`;
const rows = [
  paidRow("mixed", 0, 1),
  paidRow("mixed", 1, 0),
  // Nothing trains on these: their log-probs may be missing.
  paidRow("lost", 0, 0, { logp_new: [null, null] }),
  paidRow("lost", 1, 0),
];

for (const to of ["mask", "drop"])
  test(`rollouts sent to ${to} weigh nothing, and count among no tokens that train`, async () => {
    const { rollouts, steps } = await explained(text(to), rows);
    assert.ok(rollouts.slice(0, 2).every(({ weights }) => weights.every((one) => one === 1)));
    assert.deepEqual(
      rollouts.slice(2).map(({ weights, grad_logp }) => [weights.map(Number), grad_logp?.map(Number)]),
      [
        [
          [0, 0],
          [0, 0],
        ],
        [
          [0, 0],
          [0, 0],
        ],
      ],
    );
    assert.equal(steps[0]!.metrics["tokens/trained"], 4);
    assert.equal(steps[0]!.metrics[`route/${to}`], 0.5);
  });
