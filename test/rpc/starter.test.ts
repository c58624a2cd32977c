/** What a newcomer does first: `gradus init` and a dry run. That what it writes learns is tried in test/long. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { Workspace } from "../support/workspace.ts";

const report = z.looseObject({
  type: z.literal("dry-run"),
  probes: z.array(
    z.object({
      probe: z.string(),
      response: z.string(),
      terms: z.record(z.string(), z.number().nullable()),
      reward: z.number().nullable(),
    }),
  ),
  warnings: z.array(z.string()),
});

test("a dry run reports what each term gives an empty answer, and warns of one that is rewarded", async () => {
  const workspace = new Workspace();
  try {
    await workspace.finish("init", ".", "--json");
    const dryRun = async (...words: string[]): Promise<z.output<typeof report>> => {
      const talk = await workspace.finish("run", "countdown.gradus.yaml", "--dry-run", "--json", ...words);
      assert.equal(talk.code, 0, talk.stderr);
      return report.parse(talk.lines.at(-1));
    };
    const { probes, warnings } = await dryRun();
    const earned = Object.fromEntries(probes.map(({ probe, reward }) => [probe, reward]));
    assert.deepEqual(earned, { empty: 0, prompt: 0, gold: 1, filler: 0 });
    assert.deepEqual(warnings, []);

    writeFileSync(
      join(workspace.folder, "short.ts"),
      "export const score = ({ response }) => 1 / (1 + response.length);\n",
    );
    const paid = await dryRun(
      "--set",
      "reward.combine=sum",
      "--set",
      "reward.terms.brevity={ use: ./short.ts, weight: { schedule: linear, from: 0, to: 0.1, over: 10 } }",
    );
    const empty = paid.probes.find(({ probe }) => probe === "empty");
    assert.deepEqual(
      { response: empty?.response, terms: empty?.terms, reward: empty?.reward },
      { response: "", terms: { correct: 0, brevity: 1 }, reward: 0.1 },
    );
    assert.equal(paid.warnings.length, 1);
    assert.match(
      paid.warnings[0]!,
      /^`brevity` rewards an empty answer with 1 × 0\.1, though it is never right: /,
    );
  } finally {
    await workspace.remove();
  }
});

test("what TensorFlow says of itself does not reach the terminal", async () => {
  const before = process.env["TF_CPP_MIN_LOG_LEVEL"];
  process.env["TF_CPP_MIN_LOG_LEVEL"] = "0";
  const workspace = new Workspace();
  try {
    const { code, stderr } = await workspace.finish("run", workspace.config, "--dry-run", "--json");
    assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  } finally {
    if (before === undefined) delete process.env["TF_CPP_MIN_LOG_LEVEL"];
    else process.env["TF_CPP_MIN_LOG_LEVEL"] = before;
    await workspace.remove();
  }
});
