/** Every preset that chooses what comes next: a run's history, replayed, gives the estimates and the state of the run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { listPresets } from "../../server/config/presets.ts";
import { curriculumPresets, shortRun } from "../support/curriculumPresets.ts";
import { assertReplays, replayedRun } from "../support/replayedRun.ts";
import { sandboxThread } from "../support/sandboxThread.ts";

await sandboxThread();

test("every preset with a curriculum is among them", () => {
  const own = listPresets().filter(({ slots }) => slots.includes("curriculum"));
  assert.deepEqual(
    own.map(({ id }) => id).filter((id) => curriculumPresets[id] === undefined),
    [],
  );
});

for (const preset of Object.keys(curriculumPresets))
  test(`${preset}: estimates and state of the replay are the run's`, async () => {
    assertReplays(await replayedRun(...shortRun(preset)));
  });
