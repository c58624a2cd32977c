import assert from "node:assert/strict";
import { test } from "node:test";
import type { CurriculumExpectation } from "../../../../server/analysis/curriculumTests/format.ts";
import { shortfallOf } from "../../../../server/analysis/curriculumTests/shortfall.ts";
import type { TracedStep } from "../../../../server/analysis/curriculumTests/traces.ts";

/** Four groups a step: so many of level 10, which always fails, and the others of level 1. */
const step = (failing: number, mixed: number): TracedStep => ({
  metrics: { "groups/mixed": mixed, "eval/pass@1": mixed, "groups/zero_advantage": 1 - mixed },
  draws: Array.from({ length: 4 }, (_, i) =>
    i < failing ? { level: 10, chance: 0.001 } : { level: 1, chance: 0.5 },
  ),
});
/** Steps 1 to 6. */
const trace = [step(4, 0), step(2, 0.2), step(1, 0.4), step(0, 0.6), step(1, 0.6), step(0, 0.8)];
const failing: CurriculumExpectation = { share_of: { success: [0, 0.01] } };
const found = (expect: CurriculumExpectation): readonly [number, number | null] | undefined => {
  const short = shortfallOf(expect, trace);
  return short && [short.step, short.found];
};

test("a value is the mean over the last steps, ten of them unless the expectation says how many", () => {
  const mixed = { metric: "groups/mixed", at_least: 1 } as const;
  assert.deepEqual(found({ ...mixed, window: 2 }), [6, 0.7]);
  assert.deepEqual(found({ ...mixed, window: 1 }), [6, 0.8]);
  // There are six.
  assert.ok(Math.abs(found(mixed)![1]! - 2.6 / 6) < 1e-12);
  // As conditions of stages: one value of an evaluation.
  assert.deepEqual(found({ metric: "eval/pass@1", at_least: 1 }), [6, 0.8]);
  assert.equal(found({ metric: "groups/mixed", at_least: 0.7, at_most: 0.7, window: 2 }), undefined);
});

test("`always` holds at every step, `after` at every step after one, and the first that does not is named", () => {
  const rare: CurriculumExpectation = { ...failing, at_most: 0.2, window: 1 };
  assert.equal(found(rare), undefined, "in the end");
  assert.deepEqual(found({ ...rare, always: true }), [1, 1]);
  assert.deepEqual(found({ ...rare, after: 2 }), [3, 0.25]);
  assert.deepEqual(found({ ...rare, at_most: 0.25, after: 1 }), [2, 0.5]);
  assert.equal(found({ ...rare, at_most: 0.25, after: 2 }), undefined);
  // Windows lie wholly after the step.
  assert.equal(found({ ...rare, window: 2, after: 3 }), undefined);
  assert.deepEqual(found({ ...rare, window: 2, after: 1 }), [3, 0.375]);
  assert.match(shortfallOf({ ...rare, after: 6 }, trace)!.message, /no step after 6/);
});

test("a share is of the draws whose level and chance are both in the ranges", () => {
  assert.deepEqual(found({ share_of: { level: [9, 10] }, at_most: 0, window: 2 }), [6, 0.125]);
  assert.deepEqual(found({ share_of: { level: [1, 8] }, at_least: 1, window: 2 }), [6, 0.875]);
  assert.deepEqual(
    found({ share_of: { level: [1, 10], success: [0.4, 0.6] }, at_least: 1, window: 2 }),
    [6, 0.875],
  );
});

test("to beat uniform sampling is to be above it, or below it where less is better", () => {
  const uniform = trace.map(() => step(0, 0.8));
  const better = trace.map(() => step(0, 0.9));
  const says = (metric: "eval/pass@1" | "groups/zero_advantage", own: readonly TracedStep[]) =>
    shortfallOf({ metric, beats: "uniform" }, own, uniform)?.message;
  assert.equal(says("eval/pass@1", better), undefined);
  assert.equal(says("groups/zero_advantage", better), undefined);
  assert.match(
    says("eval/pass@1", trace)!,
    /^`eval\/pass@1` is 0\.800 in step 6, not above the 0\.800 of uniform sampling: /,
  );
  assert.match(
    says("groups/zero_advantage", trace)!,
    /^`groups\/zero_advantage` is 0\.567 over steps 1 to 6, not below the 0\.200 of uniform sampling: /,
  );
});

test("the sentence says what was found, when, what was wanted, and which level it is due to", () => {
  assert.equal(
    shortfallOf({ ...failing, at_most: 0.1, window: 2, always: true }, trace)!.message,
    "the share of tasks solved at 0 % to 1 % is 0.750 over steps 1 to 2, above 0.1: most of these are of level 10 (75 % of the groups, solved at 0.1 %)",
  );
  assert.equal(
    shortfallOf({ metric: "groups/mixed", at_least: 0.9, window: 2 }, trace)!.message,
    "`groups/mixed` is 0.700 over steps 5 to 6, below 0.9: level 1 is drawn most (88 % of the groups, solved at 50 %)",
  );
  assert.match(
    shortfallOf({ metric: "groups/mixed", at_least: 0.7 }, [step(0, 0.69999)])!.message,
    /is 0\.69999 in step 1, below 0\.7: /,
  );
  const nothing: TracedStep[] = [{ metrics: {}, draws: [] }];
  assert.equal(
    shortfallOf({ ...failing, at_most: 0.1 }, nothing)!.message,
    "the share of tasks solved at 0 % to 1 % has no value: nothing was drawn",
  );
});
