/**
 * A config that TRL trains on a site, as its user starts it: TRL itself on the CPU, the curriculum and a TypeScript reward in the
 * service next to it, the same run in the store. Wants a Python with torch, trl and datasets in GRADUS_PEER_PYTHON.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { z } from "zod";
import { Workspace } from "../support/workspace.ts";

const python = process.env["GRADUS_PEER_PYTHON"];
const has = python !== undefined && spawnSync(python, ["-c", "import torch, trl, datasets"]).status === 0;
const skip = has ? false : "GRADUS_PEER_PYTHON names no Python with torch, trl and datasets";

const config = `extends: grpo
name: sums
engine: { use: trl }
model: { base: tiny, width: 32, layers: 2, heads: 2, hidden: 64, context: 64 }
tasks: [{ env: countdown, numbers: [2, 3, 4] }]
curriculum:
  arms: difficulty
  signal: mean_abs_advantage
  estimator: { use: ema, alpha: 0.5 }
  sampler: { use: boltzmann, temperature: 0.1 }
rollout: { prompts: 8, group: 4, max_tokens: 8 }
reward:
  terms:
    correct: { use: equation }
    digits: { use: ./rewards/digits.ts, weight: 0.5 }
steps: 6
`;

const row = z.looseObject({
  step: z.number(),
  reward: z.number(),
  rewards: z.record(z.string(), z.number().nullable()),
  task: z.looseObject({ arm: z.string() }),
  response: z.string(),
});

describe("a run that TRL trains on a site", { skip }, () => {
  it("ends in the store as any run: its steps, rewards by term, arms and a verdict", async () => {
    const workspace = new Workspace();
    try {
      const { folder } = workspace;
      mkdirSync(join(folder, "rewards"));
      mkdirSync(join(folder, "sites"));
      writeFileSync(join(folder, "sums.gradus.yaml"), config);
      writeFileSync(
        join(folder, "rewards", "digits.ts"),
        "export const score = ({ response }: { response: string }) => [...response].filter((c) => /\\d/.test(c)).length / 8;\n",
      );
      writeFileSync(
        join(folder, "sites", "lab.yaml"),
        `kind: here\nfolder: ${folder}/far\npython: ${python}\n`,
      );
      const talk = await workspace.finish("run", "sums.gradus.yaml", "--site", "lab", "--json");
      assert.equal(talk.code, 0, talk.stderr);
      const [summary] = talk.of("summary");
      assert.deepEqual([summary?.status, summary?.["steps"]], ["finished", 6]);
      const run = summary?.run ?? "";
      const rollouts = await workspace.finish("rollouts", run, "--json", "--limit", "1000");
      assert.equal(rollouts.code, 0, rollouts.stderr);
      const rows = rollouts.lines.map((line) => row.parse(line));
      assert.equal(rows.length, 6 * 8 * 4);
      for (const { reward, rewards, response, task } of rows) {
        const digits = [...response].filter((one) => /\d/.test(one)).length / 8;
        assert.ok(Math.abs(rewards["digits"]! - digits) < 1e-6, JSON.stringify({ rewards, response }));
        assert.ok(Math.abs(reward - rewards["correct"]! - 0.5 * digits) < 1e-6);
        assert.match(task.arm, /^countdown\/[234]$/);
      }
      const decided = readFileSync(join(folder, "far", run, "out", "curriculum", "decisions.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) =>
          z
            .looseObject({ step: z.number(), estimates: z.record(z.string(), z.number()) })
            .parse(JSON.parse(line)),
        );
      assert.equal(decided.length, 6);
      assert.notDeepEqual(decided[0]!.estimates, decided[5]!.estimates);
      const shown = await workspace.finish("runs", "show", run, "--json");
      assert.equal(shown.code, 0, shown.stderr);
      const { origin, verdict } = z
        .looseObject({
          origin: z.looseObject({ site: z.looseObject({ engine: z.string() }) }),
          verdict: z.looseObject({}),
        })
        .parse(JSON.parse(shown.text));
      assert.equal(origin.site.engine, "trl");
      assert.ok(verdict);
    } finally {
      await workspace.remove();
    }
  });
});
