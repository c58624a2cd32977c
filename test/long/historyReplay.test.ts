/** Every preset that chooses what comes next: a run's history, replayed, gives the estimates and the state of the run. */
import { test } from "node:test";
import { curriculumPresets, shortRun } from "../support/curriculumPresets.ts";
import { assertReplays, replayedRun } from "../support/replayedRun.ts";
import { sandboxProcess } from "../support/sandboxProcess.ts";

await sandboxProcess();

for (const preset of Object.keys(curriculumPresets))
  test(`${preset}: estimates and state of the replay are the run's`, async () => {
    assertReplays(await replayedRun(...shortRun(preset)));
  });
