import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryGroup } from "../../../../server/analysis/history/read.ts";
import { believe } from "../../../../server/analysis/history/recollection.ts";
import { whatIf } from "../../../../server/analysis/history/whatIf.ts";
import { configOf, near } from "../../support.ts";

const text = (curriculum: string): string =>
  `tasks: [{ env: countdown, numbers: [3, 4] }]\nreward: { terms: { right: equation } }\nrollout: { prompts: 16, group: 8 }\ncurriculum: ${curriculum}\n`;
const rewards = (right: number): number[] => Array.from({ length: 8 }, (_, i) => (i < right ? 1 : 0));
const group = (step: number, arm: string, right: number, n: number): HistoryGroup => ({
  step,
  task: `t${step}-${n}`,
  arm,
  rewards: rewards(right),
  place: { file: "h.jsonl", line: 0 },
});
/** Arm 3 is solved seven times of eight, arm 4 one of eight, four groups of each a step. */
const history = Array.from({ length: 30 }, (_, step) => step).flatMap((step) =>
  [0, 1, 2, 3].flatMap((n) => [group(step, "countdown/3", 7, n), group(step, "countdown/4", 1, n)]),
);

test("belief: Beta(1, 1) without outcomes, the outcomes' own rate with many, wider the further they are", () => {
  assert.deepEqual(believe([], 0, 5), { mean: 0.5, spread: Math.sqrt(2), support: 0 });
  const seen = [{ step: 0, successes: 30, rollouts: 40 }];
  const now = believe(seen, 0, 5);
  assert.ok(near(now.mean, 31 / 42) && near(now.support, 40));
  const later = believe(seen, 20, 5);
  assert.ok(near(later.support, 40 * Math.exp(-4)) && later.spread > now.spread);
});

test("another curriculum draws by the recorded difficulty: what is solved more, when it is asked to", async () => {
  const config = configOf(
    text(
      "{ signal: success_rate, estimator: { use: window, size: 10 }, sampler: { use: proportional, floor: 0.2 } }",
    ),
  );
  const steps = await whatIf(config, history);
  assert.equal(steps.length, 30);
  const last = steps.at(-1)!;
  assert.ok(
    Math.abs(last.shares["countdown/3"]!.mean - (0.1 + 0.8 * (7 / 8))) < 0.08,
    JSON.stringify(last.shares),
  );
  assert.ok(
    Math.abs(last.success.mean - (0.8 * (7 / 8) + 0.2 * (1 / 8))) < 0.08,
    JSON.stringify(last.success),
  );
  for (const { shares } of steps)
    assert.ok(near(shares["countdown/3"]!.mean + shares["countdown/4"]!.mean, 1, 1e-9));
});

test("the band widens where the history has nothing to say", async () => {
  const config = configOf(text("{ signal: success_rate, estimator: last, sampler: uniform }"));
  const known = await whatIf(config, history);
  const unknown = await whatIf(
    config,
    history.filter(({ arm, step }) => arm === "countdown/3" || step < 2),
  );
  const width = (steps: Awaited<ReturnType<typeof whatIf>>): number =>
    steps.at(-1)!.success.high - steps.at(-1)!.success.low;
  assert.ok(width(unknown) > 1.5 * width(known), `${width(unknown)} and ${width(known)}`);
  assert.ok(unknown.at(-1)!.support["countdown/4"]! < 1);
});

test("an arm that the config has not is named, as in a replay", async () => {
  const config = configOf(text("{ arms: difficulty, sampler: uniform }"));
  await assert.rejects(
    whatIf(config, [group(0, "countdown/33", 1, 0)]),
    /no arm "countdown\/33": did you mean "countdown\/3"/,
  );
});

test("admission rejects what it would have rejected", async () => {
  const config = configOf(
    text("{ arms: difficulty, sampler: uniform, admission: { use: success_band, low: 0, high: 0.5 } }"),
  );
  const { rejected } = (await whatIf(config, history)).at(-1)!;
  assert.ok(rejected.mean > 0.35 && rejected.mean < 0.65, JSON.stringify(rejected));
});
