import assert from "node:assert/strict";
import { test } from "node:test";
import { goldFall } from "../../../../server/analysis/verdict/gold.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { EvaluationRow } from "../../../../shared/protocol/protocol.ts";
import { chance, config, evaluation, level, sound, timelineOf, recordOf, verdict } from "./support.ts";

const withGold: JsonObject = {
  ...config,
  reward: { ...(config["reward"] as JsonObject), gold: ["expert"] },
};

/** An evaluation whose greedy answers the trained reward gives `reward` on average, and the expert `gold(task)`. */
function judged(step: number, reward: number, gold: (task: number) => number): EvaluationRow {
  const row = evaluation(step, chance(0.2));
  const values = row.results!.tasks.map((_, task) => gold(task));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    ...row,
    metrics: { ...row.metrics, "eval/reward/total": reward, "eval/reward/expert": mean },
    results: { ...row.results!, gold: { expert: values } },
  };
}
/** From 0 to 10, about `mean`; what is hard stays hard. */
const marks =
  (mean: number, salt: number) =>
  (task: number): number => {
    const random = randomStream(7, salt, task);
    return Math.min(10, Math.max(0, mean + 2 * Math.sin(task) + 3 * (random.next() - 0.5)));
  };
const course = (golds: readonly number[], rewards: readonly number[]): EvaluationRow[] =>
  golds.map((gold, i) => judged(i === 0 ? -1 : 20 * i - 1, rewards[i]!, marks(gold, i)));

test("a reward that rises while the gold term peaks and falls is hacked, since the peak", () => {
  const evaluations = course([5, 6, 6.6, 6.2, 5, 4], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
  const found = verdict({ metrics: sound, config: withGold, evaluations });
  assert.deepEqual([found.state, found.since], ["hacking", 39]);
  assert.match(
    found.headline,
    /^Hacking the reward since step 39: on held-out answers it rose 0\.300 → 0\.600, and `expert`, which does not train, fell 6\.\d+ → [34]\.\d+\.$/,
  );
  assert.deepEqual(found.fixes[0]?.set, [
    { path: "checkpoint.best", value: { metric: "eval/reward/expert", mode: "max" } },
  ]);
  // Nothing later is known at the peak.
  const early = timelineOf(recordOf({ metrics: sound, config: withGold, evaluations }), 45);
  assert.ok(early.spans.every(({ finding }) => finding.state !== "hacking"));
});

test("neither sign alone is one: both judges fall, or the gold term stays while the reward rises", () => {
  for (const evaluations of [
    course([5, 6, 6.6, 6.2, 5, 4], [0.6, 0.5, 0.5, 0.4, 0.3, 0.2]),
    course([5, 6, 6.5, 6.5, 6.5, 6.5], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
  ]) {
    const found = verdict({
      metrics: { ...sound, "reward/brevity": level(0.5) },
      config: withGold,
      evaluations,
    });
    assert.notEqual(found.state, "hacking");
  }
});

test("a gold term that only varies is said to fall in at most 5 % of runs, over all their evaluations", () => {
  const runs = 400;
  const wrong = Array.from({ length: runs }, (_, run) => {
    // 64 tasks, 10 evaluations, and a reward that rises at each: the second sign is always there.
    const rows = Array.from({ length: 10 }, (_unused, look): EvaluationRow => {
      const random = randomStream(run, look);
      const values = Array.from({ length: 64 }, () => Number(random.next() < 0.5));
      const mean = values.reduce((sum, value) => sum + value, 0) / 64;
      const tasks = values.map((_value, task) => `t${task}`);
      return {
        step: look,
        role: "periodic",
        metrics: { "eval/reward/total": look, "eval/reward/expert": mean },
        results: { tasks, arms: [], samples: [], right: [], greedy: [], gold: { expert: values } },
      };
    });
    return rows.some((_row, look) => goldFall(rows.slice(0, look + 1), ["expert"]) !== null);
  }).filter(Boolean).length;
  assert.ok(wrong / runs <= 0.05, `${wrong} of ${runs}`);
});
