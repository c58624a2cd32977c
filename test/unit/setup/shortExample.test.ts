/** The short form of the example, which `npm start` runs on WebAssembly, is a config still, and far shorter. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { gradus } from "../../support/cli.ts";

const shape = z.object({
  config: z.object({
    stages: z.array(z.object({ name: z.string(), steps: z.number() })),
    rollout: z.object({ prompts: z.number() }),
  }),
});

test("each setting of the short example is one that the example has, and the person's own come after", async () => {
  const script: { shortExample: readonly string[] } = await import(
    pathToFileURL("scripts/shortExample.mjs").href
  );
  const { shortExample } = script;
  const file = "examples/countdown/countdown.gradus.yaml";
  const resolved = await gradus(["resolve", file, "--json", ...shortExample, "--set", "rollout.prompts=4"]);
  const { config } = shape.parse(JSON.parse(resolved.stdout));
  assert.deepEqual(
    config.stages.map(({ name, steps }) => [name, steps]),
    [
      ["warm-up", 150],
      ["practice", 10],
    ],
  );
  assert.equal(config.rollout.prompts, 4);
});
