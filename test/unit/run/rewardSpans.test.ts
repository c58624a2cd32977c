/** What a reward finds in responses masks the tokens of the same step. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { columnOf } from "../../../server/algorithm/rewards/rewards.ts";
import { withRewardSpans } from "../../../server/run/step/score/rewardSpans.ts";
import { fakeTokenizer } from "../../support/fakePolicy.ts";
import { rewardHost } from "../../support/rewardHost.ts";
import { ofKind, testRun } from "../../support/runFolder.ts";
import { batchOf, row } from "../support.ts";

await rewardHost();

test("characters become tokens, next to the spans that a rollout has", () => {
  const tokens = [...fakeTokenizer.encode("12+3"), fakeTokenizer.eos];
  const batch = batchOf([
    row("g", 0, { response: "12+3", tokens, spans: { error: [[0, 1]] } }),
    row("g", 1, { response: "12+3", tokens }),
  ]);
  const first = columnOf(
    "first",
    [
      { kind: "value", value: 1, spans: { error: [[2, 4]], executed: [] } },
      { kind: "value", value: 0 },
    ],
    batch,
  );
  const second = columnOf("second", [{ kind: "none" }, { kind: "none", spans: { error: [[1, 1]] } }], batch);
  const told = withRewardSpans(batch, [first, second], fakeTokenizer);
  assert.deepEqual(told.records[0]!.spans, {
    error: [
      [0, 1],
      [2, 4],
    ],
    executed: [],
  });
  assert.deepEqual(told.records[1]!.spans, { error: [] }, "an empty span is of no token");
  const without = columnOf("first", [{ kind: "value", value: 1 }, { kind: "none" }], batch);
  assert.equal(withRewardSpans(batch, [without], fakeTokenizer), batch);
});

test("a user's reward says where a program failed, and only that trains", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-spans-"));
  writeFileSync(
    join(folder, "judge.ts"),
    `export const score = ({ response }) =>
      response.length < 2 ? response.length : { value: response.length, spans: { error: [[1, 2]] } };`,
  );
  const run = testRun([
    `reward.terms={ judge: { use: ${JSON.stringify(join(folder, "judge.ts"))} } }`,
    "mask=[error_span]",
    "stages.practice.steps=2",
  ]);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const rollouts = ofKind(run.records(), "rollout").filter(({ row }) => row.use === "train");
    assert.ok(rollouts.length > 0);
    let marked = 0;
    for (const { row, columns } of rollouts) {
      const mask = [...columns.mask!];
      const long = row.response!.length >= 2;
      // The first ids are of tokens without a text: the end, and what pads.
      const second = [...columns.tokens!.keys()].filter((t) => columns.tokens![t]! > 2)[1];
      assert.deepEqual(
        mask,
        mask.map((_, t) => (long ? Number(t === second) : 1)),
      );
      if (long) assert.deepEqual(row.spans, { error: [[second, second! + 1]] });
      marked += long ? 1 : 0;
    }
    assert.ok(marked > 0);
  } finally {
    run.remove();
    rmSync(folder, { recursive: true, force: true });
  }
});
