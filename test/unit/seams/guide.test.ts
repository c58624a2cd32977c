/**
 * Guide: where every plain rollout failed, sample with a hint in the context and train without it. The ratio is
 *   π_θ(o_t | x, o_<t) / π_old(o_t | x, hint, o_<t):
 * `context` generated the row, `trainContext` replaces it in training, tokens of a given prefix have origin `given`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { origin, type Guidance, type Help, type Prompt, type Sample } from "../../../server/seams.ts";
import { batchOf } from "../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../support/fakePolicy.ts";

export const hintOnFailure: Guidance = {
  help(task, group): Promise<Help | null> {
    if (group === undefined || group.successes > 0 || task.solution === undefined)
      return Promise.resolve(null);
    return Promise.resolve({
      context: `${task.prompt} (${task.solution})`,
      prefix: task.solution.slice(0, 1),
      train_context: task.prompt,
    });
  },
};

// @ts-expect-error guidance says what helps; it does not write the response
export const writesResponse: Help = { context: "2+2 (4)", response: "4" };

test("Guide's stripped context: behaviour under the hint, training without it", async () => {
  const models = new FakeModels({ seed: 3 });
  const policy = models.get("policy");
  const task = { id: "t", source: "toy", env: "toy", prompt: "2+2=", data: {}, solution: "4" };
  const failed = {
    task,
    arm: "toy",
    rewards: Float64Array.of(0, 0),
    advantages: new Float64Array(2),
    successes: 0,
    lengths: Float64Array.of(3, 3),
  };
  const clock = { step: 0, stageStep: 0 };
  const help = await hintOnFailure.help(task, failed, 0, {
    models,
    clock,
    random: {
      next: () => 0,
      integer: () => 0,
      fork: () => {
        throw new Error("not forked");
      },
    },
  });
  assert.ok(help?.context !== undefined && help.prefix !== undefined && help.train_context !== undefined);
  const hinted: Prompt = {
    tokens: fakeTokenizer.encode(help.context),
    prefix: fakeTokenizer.encode(help.prefix),
    key: ["t", 0],
  };
  const samples: Sample[] = [];
  for await (const one of policy.generate([hinted], { max_tokens: 4, temperature: 1, seed: 1 }))
    samples.push(one);
  const written = samples.flatMap((one) => [...one.tokens]);
  const given = hinted.prefix!.length;
  const batch = batchOf(
    [
      {
        context: [...hinted.tokens],
        trainContext: [...fakeTokenizer.encode(help.train_context)],
        tokens: [...hinted.prefix!, ...written],
        origin: [...hinted.prefix!].map((): number => origin.given).concat(written.map(() => origin.written)),
        record: { source: "guided" },
      },
    ],
    {
      logp_old: Float64Array.from([
        ...new Array<number>(given).fill(Number.NaN),
        ...samples.flatMap((one) => [...one.logp_old]),
      ]),
    },
  );
  assert.deepEqual([...batch.mask.subarray(0, given)], [0]);
  const now = await policy.score(batch, { model: "policy", channels: ["logp"] });
  // The first token's context is the hint's last character or the prompt's: the given prefix sees the difference.
  const plain = await policy.score(
    { ...batch, trainContext: batch.context },
    { model: "policy", channels: ["logp"] },
  );
  assert.notEqual(now.logp![0], plain.logp![0]);
  samples[0]!.logp_old.forEach((old, i) =>
    assert.ok(Math.abs(Math.exp(now.logp![given + i]! - old) - 1) < 1e-12),
  );
});
