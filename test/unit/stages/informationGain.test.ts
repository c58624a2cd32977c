/** The reward of a thought, on a real model: against log-probs of the whole text, scored by hand. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { raggedOf } from "../../../server/core/rows/batch.ts";
import { create } from "../../../server/core/create.ts";
import { keyedRandom } from "../../../server/core/config/keyedRandom.ts";
import { loadConfig } from "../../../server/rules/load.ts";
import { openModels, type RunModels } from "../../../server/run/models/models.ts";
import { likelihood, solved } from "../../../server/run/stages/supervised.ts";
import type { Task } from "../../../server/core/task.ts";
import type { Batch } from "../../../server/core/rollouts.ts";

const text = `extends: ./small.gradus.yaml
tasks: [{ corpus: corpus.txt, predict: next_token, max_prompt: 40 }]
stages: [{ name: think, kind: rlp, steps: 1 }]
`;
const task = (id: string, answer: string): Task => ({
  id,
  source: "corpus",
  env: "corpus",
  prompt: "The cat",
  answer,
  solution: answer,
  data: {},
});

/** Rows of context and tokens, each with its task and its group. */
function rowsOf(
  rows: readonly { context: ArrayLike<number>; tokens: ArrayLike<number>; task: Task }[],
): Batch {
  const { offsets, values } = raggedOf(rows.map(({ tokens }) => tokens));
  return {
    rows: rows.length,
    offsets,
    tokens: values,
    origin: new Uint8Array(values.length),
    mask: new Uint8Array(values.length).fill(1),
    columns: {},
    context: raggedOf(rows.map(({ context }) => context)),
    group: Int32Array.from(rows, (_, row) => Math.floor(row / 2)),
    groups: Math.ceil(rows.length / 2),
    records: rows.map(({ task: own }, index) => ({
      task: own,
      arm: "corpus",
      group: own.id,
      index,
      prompt: own.prompt,
      response: "",
      finish: "stop",
      source: "self",
      use: "train",
    })),
  };
}

/** Σ log p of the last `n` tokens of one sequence. */
async function logpOf(
  models: RunModels,
  model: string,
  tokens: readonly number[],
  n: number,
  own: Task,
): Promise<number> {
  const batch = rowsOf([{ context: tokens.slice(0, 1), tokens: tokens.slice(1), task: own }]);
  const { logp } = await models.get("policy").score(batch, { model, channels: ["logp"] });
  return logp!.slice(-n).reduce((sum, one) => sum + one, 0);
}

test("r = log p(text | prompt, thought) − log p̄(text | prompt), the copy lagging behind", async () => {
  const { config } = loadConfig(resolve("test/fixtures/stages/any.gradus.yaml"), { text });
  assert.ok(config);
  const models = await openModels(config);
  try {
    const policy = models.get("policy");
    const { tokenizer } = policy;
    const taught = solved([task("taught", " sees the sun.")], tokenizer, { chat: false });
    for (let i = 0; i < 3; i++)
      await policy.update(taught, { channels: ["logp"], unit: "sequence" }, likelihood);
    const prompt = [...tokenizer.encode("The cat")];
    const thoughts = [[...tokenizer.encode("it sees"), tokenizer.eos], [...tokenizer.encode("zq")]];
    const [sees, hears] = [task("1", " sees"), task("2", " hears")];
    const batch = rowsOf(
      [sees, hears].flatMap((own) => thoughts.map((tokens) => ({ context: prompt, tokens, task: own }))),
    );
    const context = { random: keyedRandom("gain"), max_tokens: 8, group: 2 };
    const [gain] = config.stages[0]!.body.reward.terms.map(({ term }) => create(term, context));
    const values = await gain!.score(batch, { models, tokenizer, clock: { step: 0, stageStep: 0 } });
    for (const [row, value] of values.entries()) {
      const own = row < 2 ? sees : hears;
      const answer = [...tokenizer.encode(own.answer!)];
      const written = thoughts[row % 2]!.filter((token) => token !== tokenizer.eos);
      const after = await logpOf(models, "policy", [...prompt, ...written, ...answer], answer.length, own);
      const before = await logpOf(models, "no_think", [...prompt, ...answer], answer.length, own);
      assert.ok(value.kind === "value" && Math.abs(value.value - (after - before)) < 1e-4);
    }
    // The copy has not gone with the policy: after three updates it is 0.3 % of the way.
    const now = await logpOf(models, "policy", [...prompt, ...tokenizer.encode(" sees")], 5, sees);
    const then = await logpOf(models, "no_think", [...prompt, ...tokenizer.encode(" sees")], 5, sees);
    assert.ok(now > then);
    await models.renew(["no_think"]);
    assert.equal(await logpOf(models, "no_think", [...prompt, ...tokenizer.encode(" sees")], 5, sees), now);
  } finally {
    models.close();
  }
});
