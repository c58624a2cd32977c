/** What a newcomer does first: `gradus init`, `gradus run`. Other seeds are tried in test/long. */
import { test } from "node:test";
import { assertLearned, trainStarter } from "../support/starter.ts";

test("what `gradus init` writes learns, unchanged", { timeout: 600_000 }, async (t) => {
  const trained = await trainStarter(1);
  t.diagnostic(JSON.stringify(trained));
  assertLearned(trained);
});
