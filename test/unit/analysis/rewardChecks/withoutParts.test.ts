/** A question asks for no more than it needs: of 12 projects each part is withdrawn, and what does not need it answers as before. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { AnswerScorer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { checkReward } from "../../../../server/analysis/rewardChecks/check.ts";
import { Explanation } from "../../../../server/analysis/explain/explain.ts";
import { needs } from "../../../../server/config/needs.ts";
import { loadFile } from "../../../../server/frameworks/use/asConfig/load.ts";
import { whyUntried } from "../../../../server/frameworks/use/asConfig/untried.ts";
import { all, own, projects, type Question } from "../../../support/projectParts.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import { row, temporary } from "../../support.ts";

before(() => rewardHost());

const rows = [1, 0].map((reward, index) =>
  row("a", index, { reward, tokens: [1, 2], logp_old: [-1, -1], logp_ref: [-1, -1] }),
);

/** What each question gets: its findings and notes, without their lines. */
async function answers(file: string, questions: readonly Question[]): Promise<Record<string, unknown>> {
  const given: Record<string, unknown> = {};
  if (questions.includes("explain")) {
    const { config } = loadFile(file, { recorded: true, needs: needs.explained });
    assert.ok(config, "explain");
    given["explain"] = [
      ...new Explanation(config).of(rows.map((one, line) => ({ row: one, place: { file, line } }))),
    ];
  }
  if (questions.includes("reward")) given["reward"] = await rewardAnswers(file);
  return JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
}

async function rewardAnswers(file: string): Promise<unknown> {
  const loaded = loadFile(file, { needs: needs.tried });
  const { config, converted } = loaded;
  assert.ok(config, `reward: ${JSON.stringify(loaded.diagnostics.map(({ message }) => message))}`);
  const untried = converted && whyUntried(converted);
  if (untried !== undefined) return untried;
  const scorer = new AnswerScorer(config);
  const found: unknown[] = [];
  try {
    for await (const one of checkReward(config, loaded, scorer, {
      unsaved: {},
      rollouts: [],
      near: () => undefined,
    }))
      found.push(
        one.kind === "note"
          ? one
          : one.findings.map(({ check, severity, message }) => ({ check, severity, message })),
      );
  } finally {
    await scorer.close();
  }
  return found;
}

describe("without a part of a project", () => {
  for (const { name, file, make, parts } of projects)
    it(`${name}: what does not need it answers as before`, async () => {
      const whole = temporary();
      make(whole);
      const given = await answers(join(whole, file), all);
      for (const { name: what, withdraw, spares } of parts) {
        const folder = temporary();
        make(folder);
        withdraw(folder);
        const now = JSON.stringify(await answers(join(folder, file), spares)).replaceAll(folder, whole);
        const before = JSON.stringify(
          Object.fromEntries(spares.map((question) => [question, given[question]])),
        );
        assert.equal(now, before, what);
      }
    });

  it("a missing file of data costs gold alone, and says so once", async () => {
    const folder = temporary();
    projects[0]!.make(folder);
    rmSync(join(folder, "train.jsonl"));
    const found = JSON.stringify(await rewardAnswers(join(folder, own)));
    assert.match(found, /Gold was not checked: `train\.jsonl` is not there\./);
    assert.match(found, /tried on 16 made-up tasks/);
  });
});
