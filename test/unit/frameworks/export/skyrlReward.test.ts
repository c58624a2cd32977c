/** reward.py of an export for SkyRL gives what the terms of Gradus give, answer by answer, in the Python that is here. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { AnswerScorer, type Answer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { serveReward } from "../../../../server/analysis/rewardServer/server.ts";
import { skyrlPlan } from "../../../../server/frameworks/trainers/skyrl/lens/plan.ts";
import { rewardPlan } from "../../../../server/frameworks/trainers/skyrl/project/rewardFile.ts";
import { rowOf } from "../../../../server/frameworks/trainers/skyrl/project/rows.ts";
import { HookFeed } from "../../../../server/store/imported/feeds/hook/hookFeed.ts";
import { answers, configText, rewardProject, terms } from "../../../support/exportedRewards.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import type { configOf } from "../../support.ts";

before(() => rewardHost());

const run = promisify(execFile);

/** As experiment.py calls it: several at the same time, whose terms are scored in no order. */
const caller = `
import json, sys
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, sys.argv[1])
from gradus_hook import set_step
from reward import compute_score
set_step(5)
def scored(one):
    return compute_score(json.loads(one["row"]["gradus"]), one["response"], len(one["response"]), {"split": one["row"]["split"], "gradus_rollout": one["number"]})
with ThreadPoolExecutor(8) as pool:
    print(json.dumps(list(pool.map(scored, json.load(sys.stdin)))))
`;

type Scored = Readonly<Record<string, number>>;

async function inPython(
  config: ReturnType<typeof configOf>,
  folder: string,
  asked: readonly Answer[],
  url = "",
): Promise<{ readonly scores: readonly Scored[]; readonly stderr: string; readonly out: string }> {
  const { text, copies } = rewardPlan(config, skyrlPlan(config), false, "0.0.0");
  const out = join(folder, "project");
  mkdirSync(out);
  writeFileSync(join(out, "reward.py"), text);
  copyFileSync("server/cli/hook/gradus_hook.py", join(out, "gradus_hook.py"));
  for (const { from, to } of copies) {
    mkdirSync(dirname(join(out, to)), { recursive: true });
    cpSync(from, join(out, to));
  }
  const given = asked.map(({ task, response }, number) => ({
    row: rowOf({ task, arm: "an arm" }, { system: undefined, split: "train" }),
    response,
    number,
  }));
  const script = join(folder, "call.py");
  writeFileSync(script, caller);
  const running = run("python3", [script, out], {
    cwd: folder,
    env: { ...process.env, GRADUS_ROLLOUTS: join(folder, "rollouts"), GRADUS_REWARD_URL: url },
  });
  running.child.stdin?.end(JSON.stringify(given));
  const { stdout, stderr } = await running;
  const scores: readonly Scored[] = JSON.parse(stdout);
  return { scores, stderr, out: join(folder, "rollouts") };
}

/** Those that SkyRL asks for one response. */
const alone = Object.entries(terms).filter(([name]) => name !== "relative");

describe("reward.py for SkyRL", () => {
  it("scores each term as Gradus does, and records what belongs together with its step", async () => {
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
    for (const row of rows) {
      const at = asked.findIndex(
        ({ task, response }) => task.prompt === row.prompt && response === row.response,
      );
      assert.ok(at >= 0);
      assert.equal(row.step, 5);
      assert.equal(row.task?.data?.["gradus_rollout"], undefined);
      for (const name of ["exact", "number"].filter((one) => one in terms))
        assert.equal(row.rewards?.[name], ours[at]?.terms[name], name);
    }
  });

  for (const combine of ["sum", "product", "max", "{ use: gate, gates: [0.5] }"])
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
});
