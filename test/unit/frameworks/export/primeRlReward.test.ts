/** reward.py of an export for prime-rl gives what the terms of Gradus give, answer by answer, in the Python that is here. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { z } from "zod";
import { AnswerScorer, type Answer } from "../../../../server/analysis/rewardChecks/answers.ts";
import { serveReward } from "../../../../server/analysis/rewardServer/server.ts";
import { primeRlPlan } from "../../../../server/frameworks/trainers/primeRl/lens/plan.ts";
import { rewardPlan } from "../../../../server/frameworks/trainers/primeRl/project/rewardFile.ts";
import { answers, configText, rewardProject, terms } from "../../../support/exportedRewards.ts";
import { rewardHost } from "../../../support/rewardHost.ts";
import type { configOf } from "../../support.ts";

before(() => rewardHost());

const run = promisify(execFile);

/** As gradus_tasks.py calls it. */
const caller = `
import json, sys
sys.path.insert(0, sys.argv[1])
from reward import rewards

def of(task, response):
    try:
        return {"terms": rewards(task, response, len(response)), "error": None}
    except Exception as error:
        return {"terms": None, "error": str(error)}

print(json.dumps([of(**one) for one in json.load(sys.stdin)]))
`;

const schema = z.array(
  z.object({
    terms: z.array(z.tuple([z.string(), z.number().nullable(), z.number()])).nullable(),
    error: z.string().nullable(),
  }),
);

async function inPython(
  config: ReturnType<typeof configOf>,
  folder: string,
  asked: readonly Answer[],
  url = "",
  service = "",
): Promise<z.output<typeof schema>> {
  const { text, copies } = rewardPlan(config, primeRlPlan(config), false, "0.0.0");
  const out = join(folder, "project");
  mkdirSync(out);
  writeFileSync(join(out, "reward.py"), text);
  for (const { from, to } of copies) {
    mkdirSync(dirname(join(out, to)), { recursive: true });
    cpSync(from, join(out, to));
  }
  const given = asked.map(({ task: { prompt, answer, source, data }, response }) => ({
    task: { id: "a", arm: "an arm", prompt, answer: answer ?? null, source, data },
    response,
  }));
  const script = join(folder, "call.py");
  writeFileSync(script, caller);
  const running = run("python3", [script, out], {
    cwd: folder,
    env: { ...process.env, GRADUS_REWARD_URL: url, GRADUS_SERVICE: service },
  });
  running.child.stdin?.end(JSON.stringify(given));
  const { stdout } = await running;
  return schema.parse(JSON.parse(stdout));
}

/** Those that prime-rl asks for one response. */
const alone = Object.entries(terms).filter(([name]) => name !== "relative");

describe("reward.py for prime-rl", () => {
  it("scores each term as Gradus does", async () => {
    // A term that weighs nothing fails for itself alone.
    const weighed = alone.map(([name, term]) => {
      const options = term.startsWith("{")
        ? term.replace(/ }$/, ", weight: 0 }")
        : `{ use: "${term}", weight: 0 }`;
      return `    ${name}: ${options}`;
    });
    const { folder, config } = rewardProject(
      configText(`\n  terms:\n    whole: { use: length, limit: 30 }\n${weighed.join("\n")}`),
    );
    const asked = answers("data");
    const scorer = new AnswerScorer(config);
    await scorer.prepare();
    const ours = await scorer.score(asked);
    const server = await serveReward(scorer, { port: 0 });
    const theirs = await inPython(config, folder, asked, server.url);
    await server.close();
    await scorer.close();
    for (const [at, name] of ["whole", ...alone.map(([own]) => own)].entries()) {
      const values = theirs.map(({ terms: found }) => found?.[at]?.[1]);
      assert.deepEqual(
        values,
        ours.map((one) => one.terms[name] ?? null),
        name,
      );
      assert.ok(new Set(values).size > 1, `${name} tells no two answers apart`);
    }
  });

  it("fails where a term fails that weighs something", async () => {
    const { folder, config } = rewardProject(
      configText("{ terms: { own: ./rewards/own.py:compute_score, number: numeric } }"),
    );
    const asked = answers("data");
    const scorer = new AnswerScorer(config);
    const ours = await scorer.score(asked);
    await scorer.close();
    const theirs = await inPython(config, folder, asked);
    assert.deepEqual(
      theirs.map(({ error }) => error !== null),
      ours.map(({ errors }) => Object.keys(errors).length > 0),
    );
    assert.deepEqual([...new Set(theirs.flatMap(({ error }) => error ?? []))].sort(), [
      "reward number: ValueError: the answer is no number",
      "reward own: ValueError: no such verdict",
    ]);
  });

  it("leaves the sum to prime-rl, and has a combination as a term of its own", async () => {
    const reward =
      "{ terms: { right: { use: numeric, weight: 2 }, brief: { use: length, weight: 0.5, tasks: [countdown] } } }";
    const asked = answers("data").slice(0, 2);
    const summed = rewardProject(configText(reward));
    assert.deepEqual(await inPython(summed.config, summed.folder, asked), [
      ...[
        {
          error: null,
          terms: [
            ["right", 1, 2],
            ["brief", null, 0.5],
          ],
        },
      ],
      ...[
        {
          error: null,
          terms: [
            ["right", 1, 2],
            ["brief", null, 0.5],
          ],
        },
      ],
    ]);
    const combined = rewardProject(configText(reward.replace(/ }$/, ", combine: max }")));
    assert.deepEqual((await inPython(combined.config, combined.folder, asked))[0]?.terms, [
      ...[
        ["right", 1, 0],
        ["brief", null, 0],
        ["combined", 2, 1],
      ],
    ]);
    const named = rewardProject(configText("{ terms: { combined: numeric, other: numeric }, combine: max }"));
    assert.throws(
      () => rewardPlan(named.config, primeRlPlan(named.config), false, "0.0.0"),
      /a term of the reward is called `combined`/,
    );
  });

  it("fails for itself alone where it weighs nothing", async () => {
    const { folder, config } = rewardProject(
      configText("{ terms: { right: numeric, shown: { use: ./rewards/own.py:compute_score, weight: 0 } } }"),
    );
    const failing = answers("data").filter(({ response }) => response === "F");
    const [one] = await inPython(
      config,
      folder,
      failing.map((answer) => ({ ...answer, task: { ...answer.task, answer: "1" } })),
    );
    assert.deepEqual(one, {
      error: null,
      terms: [
        ["right", 0, 1],
        ["shown", null, 0],
      ],
    });
  });

  it("leaves out what the service would score, where it is turned off", async () => {
    const reward = "{ terms: { right: numeric, script: ./rewards/script.ts } }";
    const asked = answers("data").slice(0, 1);
    const [on, off] = [rewardProject(configText(reward)), rewardProject(configText(reward))];
    const failed = await inPython(on.config, on.folder, asked);
    assert.match(failed[0]?.error ?? "", /names no reward server/);
    const [left] = await inPython(off.config, off.folder, asked, "", "off");
    assert.equal(left?.error, null);
    assert.deepEqual(left?.terms, [
      ["right", 1, 1],
      ["script", null, 1],
    ]);
  });

  it("leaves out what compares a group, which prime-rl does not show", () => {
    const { config } = rewardProject(
      configText("{ terms: { right: exact_match, brief: { use: length, shape: group_relative } } }"),
    );
    const { text, missing } = rewardPlan(config, primeRlPlan(config), false, "0.0.0");
    assert.doesNotMatch(text, /brief/);
    assert.deepEqual(
      missing.map(({ key, changes }) => [key, changes]),
      [["reward.terms.brief", "algorithm"]],
    );
  });
});
