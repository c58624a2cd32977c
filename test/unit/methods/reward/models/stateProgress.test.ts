/** Progress towards a goal: steps' rewards are drops of a distance, and add up to the whole drop. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { distance } from "../../../../../server/lib/algebra/linear.ts";
import { stateProgress } from "../../../../../server/methods/reward/models/stateProgress.ts";
import { batchOf, task } from "../../../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../../../support/fakePolicy.ts";
import { made, near } from "../../../support.ts";
import { plain } from "../support.ts";

const encode = (text: string): number[] => [...fakeTokenizer.encode(text)];

test("r_k = ‖φ(s_{k−1}) − φ(g)‖ − ‖φ(s_k) − φ(g)‖, of last tokens' states", async () => {
  const models = new FakeModels({ seed: 4 });
  await models.get("policy").snapshot("reference");
  const goal = { answer: "end" };
  const batch = batchOf([
    {
      context: encode("ask"),
      tokens: encode("abend"),
      record: {
        task: task("a", goal),
        steps: [
          [0, 2],
          [2, 5],
        ],
      },
    },
    { context: encode("ask"), tokens: encode("ab"), record: { task: task("a", goal) } },
    { context: encode("ask"), tokens: encode("ab"), record: { task: task("b") } },
  ]);
  const term = made(stateProgress, {});
  const clock = { step: 0, stageStep: 0 };
  const said = (await term.score(batch, { models, tokenizer: fakeTokenizer, clock })).map(plain);
  const [first, middle, last, wanted] = (await models.get("policy").embed(
    ["ask", "askab", "askabend", "askend"].map((text) => Int32Array.from(encode(text))),
    "last",
    "reference",
  )) as [Float32Array, Float32Array, Float32Array, Float32Array];
  const far = [first, middle, last].map((state) => distance(state, wanted));
  const steps = said[0] as readonly number[];
  assert.equal(steps.length, 2);
  assert.ok(near(steps[0]!, far[0]! - far[1]!) && near(steps[1]!, far[1]! - far[2]!));
  assert.ok(near(steps[0]! + steps[1]!, far[0]! - far[2]!));
  assert.deepEqual(said[1], [far[0]! - far[1]!]);
  assert.match(String(said[2]), /task b has none: set `answer` or `solution`/);
  assert.equal(distance(Float32Array.of(0, 3), Float32Array.of(4, 0)), 5);
});
