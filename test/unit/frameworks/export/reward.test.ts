/** reward.py of an export gives what the terms of Gradus give, answer by answer, in the Python that is here. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import {
  AnswerScorer,
  type Answer,
  type ScoredAnswer,
} from "../../../../server/analysis/rewardChecks/answers.ts";
import { serveReward } from "../../../../server/analysis/rewardServer/server.ts";
import { pythonPattern } from "../../../../server/frameworks/carried/reward/literal.ts";
import { trlPlan } from "../../../../server/frameworks/trainers/trl/lens/plan.ts";
import { rewardPlan } from "../../../../server/frameworks/trainers/trl/project/rewardFile.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import { answers, configText, rewardProject, terms } from "../../../support/exportedRewards.ts";
import type { configOf } from "../../support.ts";

before(() => rewardHost());

const run = promisify(execFile);

/** Recorded by nothing: what TRL would call, with what it hands over. */
const caller = `
import json, sys
sys.path.insert(0, sys.argv[1])
import reward
given = json.load(sys.stdin)
names = [function.__name__ for function in reward.functions]
print(json.dumps({name: function(**given) for name, function in zip(names, reward.functions)}))
`;

const message = (role: string, content: string): object => ({ role, content });

interface Called {
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
  readonly stderr: string;
}

/** What the functions of reward.py return for the same answers. */
async function inPython(
  config: ReturnType<typeof configOf>,
  folder: string,
  { url = "", chat = false }: { readonly url?: string; readonly chat?: boolean } = {},
): Promise<Called> {
  const { text, copies } = rewardPlan(config, trlPlan(config), false, "0.0.0");
  const out = join(folder, "project");
  mkdirSync(out);
  writeFileSync(join(out, "reward.py"), text);
  copyFileSync("server/cli/hook/gradus_hook.py", join(out, "gradus_hook.py"));
  for (const { from, to } of copies) {
    mkdirSync(dirname(join(out, to)), { recursive: true });
    cpSync(from, join(out, to));
  }
  const all = answers("data");
  const column = (read: (task: Answer["task"]) => unknown): unknown[] =>
    all.map(({ task }) => read(task) ?? null);
  const given = {
    prompts: column(({ prompt }) => (chat ? [message("system", "Think."), message("user", prompt)] : prompt)),
    completions: all.map(({ response }) => (chat ? [message("assistant", response)] : response)),
    completion_ids: all.map(({ response }) => [...response].map(() => 1)),
    ...Object.fromEntries(
      ["question", "answer", "numbers", "target"].map((name) => [name, column(({ data }) => data[name])]),
    ),
    gradus_source: column(({ source }) => source),
  };
  const script = join(folder, "call.py");
  writeFileSync(script, caller);
  const running = run("python3", [script, out], {
    cwd: folder,
    env: { ...process.env, GRADUS_ROLLOUTS: "off", GRADUS_REWARD_URL: url },
  });
  running.child.stdin?.end(JSON.stringify(given));
  const { stdout, stderr } = await running;
  const values: Called["values"] = JSON.parse(stdout);
  return { values, stderr };
}

describe("reward.py", () => {
  it("scores each term as Gradus does", async () => {
    const list = Object.entries(terms).map(([name, term]) => `    ${name}: ${term}`);
    const { folder, config } = rewardProject(configText(`\n  terms:\n${list.join("\n")}`));
    const scorer = new AnswerScorer(config);
    await scorer.prepare();
    const server = await serveReward(scorer, { port: 0 });
    let [ours, called]: [ScoredAnswer[], Called | undefined] = [[], undefined];
    try {
      ours = await scorer.score(answers("data"));
      called = await inPython(config, folder, { url: server.url });
    } finally {
      await server.close();
      await scorer.close();
    }
    const { values, stderr } = called;
    for (const name of Object.keys(terms)) {
      assert.deepEqual(
        values[name]?.map((one) => one ?? null),
        ours.map((one) => one.terms[name]),
        name,
      );
      assert.ok(new Set(values[name]).size > 1, `${name} tells no two answers apart`);
    }
    assert.match(stderr, /reward own_verl: ValueError: no such verdict/);
  });

  it("scores messages as the texts that they hold", async () => {
    const reward =
      "{ terms: { exact: exact_match, own: './rewards/own.py:trl', asked: './rewards/own.py:prompted' } }";
    const plain = rewardProject(configText(reward));
    const chat = rewardProject(configText(reward));
    const { values } = await inPython(plain.config, plain.folder);
    assert.deepEqual((await inPython(chat.config, chat.folder, { chat: true })).values, values);
  });

  it("scores a term for its own tasks alone", async () => {
    const { folder, config } = rewardProject(
      configText("{ terms: { right: exact_match, other: { use: equation, tasks: [countdown] } } }"),
    );
    const { values } = await inPython(config, folder);
    assert.deepEqual(new Set(values["other"]), new Set([null]));
    assert.equal(values["right"]?.[0], 1);
  });

  for (const combine of ["product", "max", "gate"])
    it(`combines terms by ${combine}`, async () => {
      const { folder, config } = rewardProject(
        configText(
          `{ terms: { right: numeric, form: { use: length, limit: 20, weight: 0.5 } }, combine: ${combine} }`,
        ),
      );
      const scorer = new AnswerScorer(config);
      const ours = await scorer.score(answers("data").slice(0, 8));
      await scorer.close();
      const { values } = await inPython(config, folder);
      assert.deepEqual(
        values["reward"]?.slice(0, 8),
        ours.map(({ reward }) => reward),
      );
    });

  it("leaves out a term that reads a model of the run, and says so", () => {
    const { config } = rewardProject(
      configText("{ terms: { right: exact_match, likely: { use: reference_probability } } }"),
    );
    const { text, missing, weights } = rewardPlan(config, trlPlan(config), false, "0.0.0");
    assert.doesNotMatch(text, /likely/);
    assert.equal(weights, undefined);
    assert.deepEqual(
      missing.map(({ key, changes }) => [key, changes]),
      [["reward.terms.likely", "algorithm"]],
    );
  });
});

it("writes patterns as Python reads them, or not at all", () => {
  assert.equal(pythonPattern("(?<a>x)\\k<a>$"), "(?P<a>x)(?P=a)\\Z");
  assert.equal(pythonPattern("(?<=a)b(?<!c)\\$"), "(?<=a)b(?<!c)\\$");
  assert.equal(pythonPattern("\\p{L}"), undefined);
});
