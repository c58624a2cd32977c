/** An imported run has no tokens: an edited reward that takes them keeps what was recorded. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, it } from "node:test";
import { covered } from "../../../../server/analysis/rewardChecks/covered/runCoverage.ts";
import { RescoreSession } from "../../../../server/analysis/rescore/session.ts";
import { runFolder } from "../../../../server/store/files.ts";
import { importRun } from "../../../../server/store/imported/importRun.ts";
import { loadReaders } from "../../../../server/store/imported/readers.ts";
import type { Rescored } from "../../../../shared/rollouts/rescore.ts";
import { withoutPython } from "../../../support/pythonReward.ts";
import { newStore } from "../../store/support.ts";
import { configOf } from "../../support.ts";

before(loadReaders);

const reward = (full: number): string =>
  `def answer(completion_ids, **kwargs):\n    return [${full} - len(ids) / 64 for ids in completion_ids]\n`;

it("keeps a reward of completion_ids as recorded, and says so", { skip: withoutPython }, async () => {
  const { folder, store } = newStore();
  const workspace = join(folder, "..");
  const file = join(workspace, "mine.py");
  writeFileSync(file, reward(1));
  const config = configOf(
    "tasks: [{ env: countdown, numbers: [3] }]\nreward: { terms: { score: { use: './mine.py:answer' } } }\nrollout: { group: 4 }\nsteps: 5\n",
    workspace,
    true,
  );
  const { run } = await importRun({
    ...{ store: folder, folder: "test/fixtures/imported/verl", name: undefined, copy: false },
    ...{ config: undefined, version: "0.0.0", progress: () => undefined },
  });
  store.ingestAll(run);
  const session = new RescoreSession(
    { id: run, name: "gsm", folder: runFolder(folder, run), config, bundles: {} },
    (step) => Promise.resolve(store.queries.rolloutPlaces(run, step)),
  );
  try {
    const signal = new AbortController().signal;
    const options = { trusted: true, unsaved: { [file]: reward(2) }, signal };
    const steps = store.queries.rolloutSteps(run);
    let last: Rescored | undefined;
    for await (const one of session.change(config, steps, options)) last = one;
    assert.deepEqual(
      [last?.steps, last?.change.terms[0]?.changed, last?.notes],
      [5, 0, ["`score` keeps its recorded values: it takes `completion_ids`, which were not recorded."]],
    );
    const { notes } = await covered(session, config, steps, options);
    assert.deepEqual(notes, ["`score` was left out: it takes `completion_ids`, which were not recorded."]);
  } finally {
    await session.close();
  }
});
