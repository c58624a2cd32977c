/** Held-out results as trainers log them: under Gradus's names, judged as a curve, and never denied. */
import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { heldOutResults, isHeldOut } from "../../../server/store/imported/heldOut.ts";
import { importRun } from "../../../server/store/imported/importRun.ts";
import { newStore } from "./support.ts";

test("held-out results of each trainer have Gradus's names, and a mean over their sources of data", () => {
  const cases: readonly (readonly [Record<string, number | "NaN">, Record<string, number>])[] = [
    [
      {
        "val-core/math12k/acc/mean@1": 0.5,
        "val-aux/math12k/reward/mean@1": 0.75,
        "val-aux/num_turns/mean": 2,
      },
      { "eval/pass@1": 0.5, "eval/reward/total": 0.75 },
    ],
    [
      {
        "val-core/openai/gsm8k/acc/mean@8": 0.5,
        "val-core/math/acc/mean@8": 0.25,
        "val-core/math/acc/best@8/mean": 1,
      },
      {
        "eval/pass@1": 0.375,
        "eval/openai/gsm8k/pass@1": 0.5,
        "eval/math/pass@1": 0.25,
        "eval/pass@8": 1,
      },
    ],
    [{ "val-core/sums/reward/mean@1": 1.25 }, { "eval/reward/total": 1.25 }],
    [{ "val-core/sums/acc/mean@1": -0.5 }, { "eval/reward/total": -0.5 }],
    [{ "val/test_score/gsm8k": 0.5 }, { "eval/reward/total": 0.5 }],
    [
      { eval_reward: 0.5, "eval_rewards/right/mean": 0.25, eval_runtime: 12, eval_loss: 1 },
      { "eval/reward/total": 0.5, "eval/reward/right": 0.25 },
    ],
    [{ "eval/reward": 0.5 }, { "eval/reward/total": 0.5 }],
    [{ "eval/all/avg_score": 0.5, "eval/a/avg_score": 0.1 }, { "eval/reward/total": 0.5 }],
    [{ "eval/eval_sums_pass1": 0.5 }, { "eval/pass@1": 0.5 }],
    [
      { "eval/pass@1": 0.5, "eval/greedy": 0.25 },
      { "eval/pass@1": 0.5, "eval/greedy": 0.25 },
    ],
    [{ "val-core/sums/acc/mean@1": "NaN", "critic/score/mean": 1 }, {}],
  ];
  for (const [logged, expected] of cases) assert.deepEqual(heldOutResults(logged), expected);
  assert.deepEqual(
    [
      "val-core/a/acc/mean@1",
      "eval_reward",
      "eval/foo",
      "test/bar",
      "eval_runtime",
      "evaluated",
      "reward",
    ].filter(isHeldOut),
    ["val-core/a/acc/mean@1", "eval_reward", "eval/foo", "test/bar"],
  );
});

/** A verl run of 100 steps whose file logger has these in addition. */
async function logged(more: (step: number) => Record<string, number>) {
  const folder = join(newStore().folder, "out");
  cpSync("test/fixtures/imported/verl", folder, { recursive: true });
  const lines = Array.from({ length: 101 }, (_, step) =>
    JSON.stringify({ step, data: { "critic/score/mean": 0.5 + step / 1000, ...more(step) } }),
  );
  writeFileSync(join(folder, "metrics.jsonl"), lines.join("\n") + "\n");
  const { folder: home, store } = newStore();
  const request = { store: home, folder, name: undefined, copy: false, config: undefined, version: "0" };
  const { run, missing } = await importRun({ ...request, progress: () => undefined });
  store.ingestAll(run);
  const [summary] = store.queries.list({ limit: 1 }).runs;
  return { verdict: store.queries.verdict({ run }).verdict, summary, missing };
}
/** Deterministic, within ±1. */
const noise = (step: number): number => Math.sin(step * 12.9898) * Math.cos(step * 4.1414);
const everyTenth =
  (name: string, value: (step: number) => number) =>
  (step: number): Record<string, number> =>
    step % 10 === 0 ? { [name]: value(step) } : {};

test("a held-out curve that rises is learning, by successes and by rewards", async () => {
  const rises = (step: number): number => 0.4 + 0.003 * step + 0.02 * noise(step);
  const { verdict, summary, missing } = await logged(everyTenth("val-core/gsm8k/acc/mean@1", rises));
  assert.equal(verdict?.state, "learning");
  assert.match(
    verdict?.headline ?? "",
    /^Learning: held-out pass@1 rose 4\d\.\d % → 6\d\.\d %, means of the first and the last 3 evaluations\.$/,
  );
  assert.equal(missing.includes("held-out"), false);
  assert.ok((summary?.last?.["eval/pass@1"] ?? 0) > (summary?.first?.["eval/pass@1"] ?? 1));
  const rewards = await logged(everyTenth("val-core/gsm8k/reward/mean@1", (step) => 2 * rises(step)));
  assert.match(rewards.verdict?.headline ?? "", /^Learning: held-out reward rose 0\.8\d* → 1\.3\d*/);
});

test("one that stays is not, one that falls is worse, and none is denied", async () => {
  const name = "val-core/gsm8k/acc/mean@1";
  const stays = await logged(everyTenth(name, (step) => 0.62 + 0.01 * noise(step)));
  assert.ok(["flat", "cannot tell"].includes(stays.verdict?.state ?? ""), stays.verdict?.headline);
  const falls = await logged(everyTenth(name, (step) => 0.7 - 0.004 * step + 0.01 * noise(step)));
  assert.equal(falls.verdict?.state, "collapsed");
  for (const measured of [
    await logged((step) => (step === 0 ? { [name]: 0.4 } : {})),
    await logged((step) => (step === 100 || step === 0 ? { [name]: 0.4 } : {})),
    await logged(everyTenth("eval/foo", () => 1)),
    stays,
  ]) {
    assert.doesNotMatch(measured.verdict?.headline ?? "", /no held-out score/);
    assert.equal(measured.missing.includes("held-out"), false);
  }
  assert.match((await logged(() => ({}))).verdict?.headline ?? "", /there is no held-out score/);
});

test("several sources of data are said one by one", async () => {
  const { verdict } = await logged((step) =>
    step % 10 === 0
      ? { "val-core/a/acc/mean@1": 0.4 + 0.003 * step, "val-core/b/acc/mean@1": 0.5 - 0.0005 * step }
      : {},
  );
  assert.match(verdict?.details[0] ?? "", /by source of data: `a` 40\.0 % → 70\.0 %, `b` 50\.0 % → 45\.0 %/i);
});
