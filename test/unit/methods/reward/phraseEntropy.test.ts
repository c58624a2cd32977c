/** Entropy at listed phrases, on entropies that are written by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { phraseEntropy } from "../../../../server/methods/reward/text/phraseEntropy.ts";
import type { RewardContext } from "../../../../server/core/reward.ts";
import { batchOf } from "../../../support/batch.ts";
import { FakeModels } from "../../../support/fakePolicy.ts";
import { CharacterTokenizer } from "../../../../server/engine/tokenizers/characters.ts";
import { made } from "../../support.ts";
import { plain } from "./support.ts";

const tokenizer = new CharacterTokenizer();
const context: RewardContext = { models: new FakeModels(), tokenizer, clock: { step: 0, stageStep: 0 } };

test("the mean over first tokens of phrases that stand by themselves; none without one", async () => {
  const texts = ["a Wait, so wait", "awaiting", "hmm"];
  const specs = texts.map((response) => ({
    context: [1],
    tokens: [...tokenizer.encode(response)],
    record: { response },
  }));
  const size = texts.join("").length;
  const entropy = Float64Array.from({ length: size }, (_, t) => t);
  const batch = batchOf(specs, { entropy });
  const term = made(phraseEntropy, {});
  const said = (await term.score(batch, context)).map(plain);
  // “Wait” begins at character 2, “wait” at 11, “hmm” with the last row.
  assert.deepEqual(said, [(2 + 11) / 2, "none", size - 3]);
  const exact = made(phraseEntropy, { list: ["wait"], ignore_case: false });
  assert.deepEqual((await exact.score(batch, context)).map(plain), [11, "none", "none"]);
  assert.deepEqual((await term.score(batchOf(specs), context)).map(plain), ["none", "none", "none"]);
});
