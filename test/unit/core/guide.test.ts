/**
 * Guide: where every plain rollout failed, sample with a hint in the context and train without it. The ratio is
 *   π_θ(o_t | x, o_<t) / π_old(o_t | x, hint, o_<t):
 * `context` generated the row, `trainContext` replaces it in training, tokens of a given prefix have origin `given`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomStream } from "../../../server/lib/random.ts";
import type { GuidanceSource, GuidanceTrigger, Help } from "../../../server/core/slots/guidance.ts";
import { origin } from "../../../server/core/rollouts.ts";
import type { Prompt, Sample } from "../../../server/core/policy.ts";
import { batchOf } from "../../support/batch.ts";
import { FakeModels, fakeTokenizer } from "../../support/fakePolicy.ts";

/** Fires where every plain rollout failed. */
export const whereAllFail: GuidanceTrigger = {
  looks: "after",
  members: ({ size, success }) =>
    success?.every((one) => one === 0) === true ? Array.from({ length: size }, (_, i) => i) : [],
};
/** The solution in the prompt, its first letter in the response. */
export const hint: GuidanceSource = {
  reads: "task",
  help: (requests, { tokenizer }) =>
    Promise.resolve(
      requests.map(({ task }) =>
        task.solution === undefined
          ? { lack: "the task has no solution" }
          : {
              from: "guided",
              prompt: `${task.prompt} (${task.solution})`,
              lead: [{ kind: "given", tokens: tokenizer.encode(task.solution.slice(0, 1)) }],
            },
      ),
    ),
};

// @ts-expect-error help says what a response begins with; it does not write the rest
export const writesResponse: Help = { from: "guided", prompt: "2+2 (4)", response: "4" };

test("Guide's stripped context: behaviour under the hint, training without it", async () => {
  const models = new FakeModels({ seed: 3 });
  const policy = models.get("policy");
  const task = { id: "t", source: "toy", env: "toy", prompt: "2+2=", data: {}, solution: "4" };
  const clock = { step: 0, stageStep: 0 };
  const random = randomStream(1);
  assert.deepEqual(
    whereAllFail.members({ task, size: 2, success: Uint8Array.of(0, 0) }, { clock, random }),
    [0, 1],
  );
  assert.deepEqual(
    whereAllFail.members({ task, size: 2, success: Uint8Array.of(0, 1) }, { clock, random }),
    [],
  );
  const [help] = await hint.help([{ task, share: 1, member: 0, random, key: ["t"] }], {
    models,
    tokenizer: fakeTokenizer,
    clock,
    max_tokens: 4,
    plain: 2,
    write: () => Promise.reject(new Error("it writes nothing")),
    likelihood: () => Promise.reject(new Error("it scores nothing")),
  });
  assert.ok(help !== undefined && !("lack" in help) && help.prompt !== undefined);
  const [lead] = help.lead ?? [];
  assert.ok(lead?.kind === "given");
  const hinted: Prompt = {
    tokens: fakeTokenizer.encode(help.prompt),
    prefix: lead.tokens,
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
        trainContext: [...fakeTokenizer.encode(task.prompt)],
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
