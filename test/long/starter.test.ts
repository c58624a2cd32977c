/** The starter learns whatever the seed, not by one seed's luck. */
import { test } from "node:test";
import { assertLearned, trainStarter } from "../support/starter.ts";

for (const seed of [1, 2, 3])
  test(`what \`gradus init\` writes learns with seed ${seed}`, async (t) => {
    const trained = await trainStarter(seed);
    t.diagnostic(JSON.stringify(trained));
    assertLearned(trained);
  });
