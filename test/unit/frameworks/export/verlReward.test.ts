/** reward.py of an export for verl gives what the terms of Gradus give, answer by answer, in the Python that is here. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { AnswerScorer, type Answer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { serveReward } from "../../../../server/analysis/rewardServer/server.ts";
import { verlPlan } from "../../../../server/frameworks/trainers/verl/lens/plan.ts";
import { rewardPlan } from "../../../../server/frameworks/trainers/verl/project/rewardFile.ts";
import { rowOf } from "../../../../server/frameworks/trainers/verl/project/rows.ts";
import { HookFeed } from "../../../../server/store/imported/feeds/hook/hookFeed.ts";
import { answers, configText, rewardProject, terms } from "../../../support/exportedRewards.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import type { configOf } from "../../support.ts";

before(() => rewardHost());

const run = promisify(execFile);

/** As verl's reward manager calls it, from a folder of its own. */
const caller = `
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("custom_module", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(json.dumps([module.compute_score(**one) for one in json.load(sys.stdin)]))
`;

type Scored = Readonly<Record<string, number>>;

/** What `compute_score` returns for each answer, and what it recorded. */
async function inPython(
  config: ReturnType<typeof configOf>,
  folder: string,
  asked: readonly Answer[],
  url = "",
): Promise<{ readonly scores: readonly Scored[]; readonly stderr: string; readonly out: string }> {
  const { text, copies } = rewardPlan(config, verlPlan(config), false, "0.0.0");
  const out = join(folder, "project");
  mkdirSync(out);
  writeFileSync(join(out, "reward.py"), text);
  copyFileSync("server/cli/hook/gradus_hook.py", join(out, "gradus_hook.py"));
  for (const { from, to } of copies) {
    mkdirSync(dirname(join(out, to)), { recursive: true });
    cpSync(from, join(out, to));
  }
  const given = asked.map(({ task, response }, index) => {
    const row = rowOf({ task, arm: "an arm" }, { system: undefined, split: "train", index });
    return {
      data_source: row["data_source"],
      solution_str: response,
      ground_truth: Object(row["reward_model"])["ground_truth"],
      // The rest is what verl and manager.py add.
      extra_info: {
        ...Object(row["extra_info"]),
        gradus_tokens: response.length,
        gradus_step: 5,
        num_turns: 2,
        rollout_reward_scores: {},
      },
    };
  });
  const script = join(folder, "call.py");
  writeFileSync(script, caller);
  const running = run("python3", [script, join(out, "reward.py")], {
    cwd: folder,
    env: { ...process.env, GRADUS_ROLLOUTS: join(folder, "rollouts"), GRADUS_REWARD_URL: url },
  });
  running.child.stdin?.end(JSON.stringify(given));
  const { stdout, stderr } = await running;
  const scores: readonly Scored[] = JSON.parse(stdout);
  return { scores, stderr, out: join(folder, "rollouts") };
}

/** Those that verl asks for one response. */
const alone = Object.entries(terms).filter(([name]) => name !== "relative");

describe("reward.py for verl", () => {
  it("scores each term as Gradus does, and records it with its step", async () => {
    const { folder, config } = rewardProject(
      configText(`\n  terms:\n${alone.map(([name, term]) => `    ${name}: ${term}`).join("\n")}`),
    );
    const asked = answers("data");
    const scorer = new AnswerScorer(config);
    await scorer.prepare();
    const ours = await scorer.score(asked);
    const server = await serveReward(scorer, { port: 0 });
    const { scores, stderr, out } = await inPython(config, folder, asked, server.url);
    await server.close();
    await scorer.close();
    for (const [name] of alone) {
      const values = scores.map((one) => one[name]);
      // verl sums no nulls.
      assert.deepEqual(
        values,
        ours.map((one) => one.terms[name] ?? 0),
        name,
      );
      assert.ok(new Set(values).size > 1, `${name} tells no two answers apart`);
    }
    assert.match(stderr, /reward own_verl: ValueError: no such verdict/);
    const feed = new HookFeed(out, { config: undefined });
    const rows = feed.next(true).parts.flatMap(({ rows: found = [] }) => found);
    assert.equal(rows.length, asked.length);
    for (const [at, row] of rows.entries()) {
      const { task, response } = asked[at]!;
      assert.equal(row.step, 5);
      assert.equal(row.use, "train");
      assert.equal(row.response, response);
      assert.equal(row.prompt, task.prompt);
      assert.equal(row.rewards?.["exact"], ours[at]?.terms["exact"]);
      assert.equal(row.task?.data?.["answer"], task.answer);
    }
  });

  it("weights and sums the terms, each for its own tasks alone", async () => {
    const { folder, config } = rewardProject(
      configText(
        "{ terms: { right: { use: exact_match, weight: 2 }, form: { use: length, limit: 20, weight: 0.5 }, other: { use: equation, tasks: [countdown] } } }",
      ),
    );
    const asked = answers("data").slice(0, 8);
    const scorer = new AnswerScorer(config);
    const ours = await scorer.score(asked);
    await scorer.close();
    const { scores } = await inPython(config, folder, asked);
    assert.deepEqual(
      scores.map(({ score }) => score),
      ours.map(({ reward }) => reward),
    );
    assert.deepEqual(new Set(scores.map(({ other }) => other)), new Set([0]));
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
      const { scores } = await inPython(config, folder, asked);
      assert.deepEqual(
        scores.map(({ score }) => score),
        ours.map(({ reward }) => reward),
      );
    });

  it("leaves out what compares a group, which verl does not show", () => {
    const { config } = rewardProject(
      configText("{ terms: { right: exact_match, brief: { use: length, shape: group_relative } } }"),
    );
    const { text, missing } = rewardPlan(config, verlPlan(config), false, "0.0.0");
    assert.doesNotMatch(text, /brief/);
    assert.deepEqual(
      missing.map(({ key, changes }) => [key, changes]),
      [["reward.terms.brief", "algorithm"]],
    );
  });
});
