/** reward.py of an export for OpenRLHF gives what the terms of Gradus give, answer by answer, in the Python that is here. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { AnswerScorer, type Answer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { serveReward } from "../../../../server/analysis/rewardServer/server.ts";
import { openRlhfPlan } from "../../../../server/frameworks/trainers/openrlhf/lens/plan.ts";
import { rewardPlan } from "../../../../server/frameworks/trainers/openrlhf/project/rewardFile.ts";
import { labelKey, rowOf, type Split } from "../../../../server/frameworks/trainers/openrlhf/project/rows.ts";
import { HookFeed } from "../../../../server/store/imported/feeds/hook/hookFeed.ts";
import { answers, configText, rewardProject, terms } from "../../../support/exportedRewards.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import type { configOf } from "../../support.ts";

before(() => rewardHost());

const run = promisify(execFile);

/** As agent.py asks for a reward, from a folder of its own. */
const caller = `
import json, os, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
from reward import rewarded
print(json.dumps([rewarded(*one) for one in json.load(sys.stdin)]))
`;

interface Outcome {
  readonly reward: number;
  readonly scores: number;
  readonly extra_logs: Readonly<Record<string, number>>;
}

interface Asked {
  readonly split?: Split;
  readonly url?: string;
}

/** What OpenRLHF is told of each answer, and what was recorded. */
async function inPython(
  config: ReturnType<typeof configOf>,
  folder: string,
  asked: readonly Answer[],
  { split = "train", url = "" }: Asked = {},
): Promise<{ readonly found: readonly Outcome[]; readonly stderr: string; readonly out: string }> {
  const { text, copies } = rewardPlan(config, openRlhfPlan(config), false, "0.0.0");
  const out = join(folder, "project");
  mkdirSync(out);
  writeFileSync(join(out, "reward.py"), text);
  copyFileSync("server/cli/hook/gradus_hook.py", join(out, "gradus_hook.py"));
  for (const { from, to } of copies) {
    mkdirSync(dirname(join(out, to)), { recursive: true });
    cpSync(from, join(out, to));
  }
  const given = asked.map(({ task, response }, index) => {
    const row = rowOf({ task, arm: "an arm" }, { chats: false, system: undefined, split, index });
    return [row[labelKey], response, response.length];
  });
  const script = join(folder, "call.py");
  writeFileSync(script, caller);
  const running = run("python3", [script, join(out, "reward.py")], {
    cwd: folder,
    env: { ...process.env, GRADUS_ROLLOUTS: join(folder, "rollouts"), GRADUS_REWARD_URL: url },
  });
  running.child.stdin?.end(JSON.stringify(given));
  const { stdout, stderr } = await running;
  const found: readonly Outcome[] = JSON.parse(stdout);
  return { found, stderr, out: join(folder, "rollouts") };
}

/** Those that OpenRLHF asks for one response. */
const alone = Object.entries(terms).filter(([name]) => name !== "relative");

describe("reward.py for OpenRLHF", () => {
  it("scores each term as Gradus does, and records it with its step", async () => {
    const { folder, config } = rewardProject(
      `${configText(`\n  terms:\n${alone.map(([name, term]) => `    ${name}: ${term}`).join("\n")}`)}rollout: { prompts: 4, group: 2 }\n`,
    );
    const asked = answers("data");
    const scorer = new AnswerScorer(config);
    await scorer.prepare();
    const ours = await scorer.score(asked);
    const server = await serveReward(scorer, { port: 0 });
    const { found, stderr, out } = await inPython(config, folder, asked, { url: server.url });
    await server.close();
    await scorer.close();
    for (const [name] of alone) {
      const values = found.map(({ extra_logs: logs }) => logs[`reward/${name}`]);
      // What does not apply is logged as 0.
      assert.deepEqual(
        values,
        ours.map((one) => one.terms[name] ?? 0),
        name,
      );
      assert.ok(new Set(values).size > 1, `${name} tells no two answers apart`);
    }
    assert.match(stderr, /reward own_verl: ValueError: no such verdict/);
    const rows = recorded(out);
    assert.equal(rows.length, asked.length);
    for (const [at, row] of rows.entries()) {
      const { task, response } = asked[at]!;
      // 4 prompts a step.
      assert.equal(row.step, Math.floor(at / 4) + 1);
      assert.equal(row.use, "train");
      assert.equal(row.response, response);
      assert.equal(row.prompt, task.prompt);
      assert.equal(row.rewards?.["exact"], ours[at]?.terms["exact"]);
      assert.equal(row.task?.data?.["answer"], task.answer);
    }
  });

  it("weights and sums the terms, and says what is a success", async () => {
    const { folder, config } = rewardProject(
      configText(
        "{ terms: { right: { use: exact_match, weight: 2 }, form: { use: length, limit: 20, weight: 0.5 }, other: { use: equation, tasks: [countdown] } }, success: { terms: [other, right] } }",
      ),
    );
    const asked = answers("data").slice(0, 8);
    const scorer = new AnswerScorer(config);
    const ours = await scorer.score(asked);
    await scorer.close();
    const { found } = await inPython(config, folder, asked);
    assert.deepEqual(
      found.map(({ reward }) => reward),
      ours.map(({ reward }) => reward),
    );
    const right = ours.map(({ terms: { right: value } }) => value);
    assert.deepEqual(
      found.map(({ scores }) => scores),
      right,
    );
    assert.deepEqual(new Set(right), new Set([0, 1]));
  });

  it("gives successes in evaluations, which are recorded as such", async () => {
    const { folder, config } = rewardProject(
      configText("{ terms: { right: { use: exact_match, weight: 2 } } }"),
    );
    const { found, out } = await inPython(config, folder, answers("data").slice(0, 3), { split: "val" });
    assert.deepEqual(
      found.map(({ reward, scores }) => [reward, scores]),
      [
        [1, 1],
        [1, 1],
        [0, 0],
      ],
    );
    assert.deepEqual(new Set(recorded(out).map(({ use }) => use)), new Set(["evaluate"]));
  });

  for (const combine of ["product", "max", "{ use: gate, gates: [0.5] }"])
    it(`combines terms by ${combine}`, async () => {
      const { folder, config } = rewardProject(
        configText(
          `{ terms: { right: numeric, form: { use: length, limit: 20, weight: 0.5 } }, combine: ${combine} }`,
        ),
      );
      const asked = answers("data").slice(0, 8);
      const scorer = new AnswerScorer(config);
      const ours = await scorer.score(asked);
      await scorer.close();
      const { found } = await inPython(config, folder, asked);
      assert.deepEqual(
        found.map(({ reward }) => reward),
        ours.map(({ reward }) => reward),
      );
    });

  it("says that groups are rejected without a term that is not scored", () => {
    const { config } = rewardProject(
      `${configText("{ terms: { brief: { use: length, shape: group_relative }, right: exact_match } }")}rollout: { group: 4 }\ncurriculum: { admission: success_band }\n`,
    );
    const { missing } = rewardPlan(config, openRlhfPlan(config), false, "0.0.0");
    assert.deepEqual(
      missing.map(({ key, value, changes }) => [key, value, changes]),
      [
        ["reward.terms.brief", "brief", "algorithm"],
        ["curriculum.admission", "brief", "algorithm"],
      ],
    );
  });
});

const recorded = (out: string) =>
  new HookFeed(out, { config: undefined }).next(true).parts.flatMap(({ rows = [] }) => rows);
