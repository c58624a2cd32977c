import assert from "node:assert/strict";
import { test } from "node:test";
import { stalledVerdict } from "../../../../server/analysis/verdict/stalled.ts";

const minute = 60_000;
/** Twenty steps of so many milliseconds, the last at 0. */
const every = (gap: number): number[] => Array.from({ length: 20 }, (_, i) => -i * gap);

test("a run stands still when nothing came for ten steps' time, and for five minutes", () => {
  const at = (gap: number, now: number, heard = 0) =>
    stalledVerdict({ step: 40, times: every(gap), heard }, now);
  assert.equal(at(1000, 4 * minute), null);
  assert.equal(at(1000, 6 * minute)?.label, "no step for 6 min");
  assert.equal(at(2 * minute, 19 * minute), null, "slow steps are waited for");
  assert.match(
    at(2 * minute, 21 * minute)?.headline ?? "",
    /^Stalled: nothing was recorded for 21 min after step 40/,
  );
  assert.equal(at(1000, 6 * minute, 3 * minute), null, "an evaluation that reports its progress");
  assert.equal(stalledVerdict({ step: 0, times: [0], heard: 0 }, 60 * minute), null, "one step has no pace");
});
