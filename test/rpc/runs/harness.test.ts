/** A run whose episodes a program plays: real worker, server and harness processes. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { Workspace } from "../../support/workspace.ts";

/** Asks twice in one conversation, then once more with its history written otherwise; answers by how long the reply is. */
const play = `
const work = JSON.parse(require("fs").readFileSync(0, "utf8"));
const said = [];
const complete = async (prompt) => {
  const answer = await fetch(process.env.OPENAI_BASE_URL + "/completions", {
    method: "POST",
    headers: { authorization: "Bearer " + process.env.OPENAI_API_KEY, "content-type": "application/json" },
    body: JSON.stringify({ model: process.env.GRADUS_MODEL, prompt, return_token_ids: true }),
  });
  const body = await answer.json();
  if (!answer.ok) throw new Error(JSON.stringify(body));
  const [{ text, token_ids }] = body.choices;
  said.push({ prompt, token_ids, version: body.weight_version });
  return { text, asked: body.prompt_token_ids ?? body.choices[0].prompt_token_ids, token_ids };
};
(async () => {
  const first = await complete(work.prompt);
  if (work.task.data.left === 7) process.exit(3);
  // As tokens: a text of what was sampled need not be read as the same tokens.
  const second = await complete([...first.asked, ...first.token_ids, ...first.asked]);
  if (work.split === "train") await complete("Summary: " + second.text);
  require("fs").appendFileSync("said.jsonl", JSON.stringify({ split: work.split, said }) + "\\n");
  console.log(JSON.stringify({ reward: second.text.length % 2, components: { length: second.text.length } }));
})();
`;
const config = `
name: played
model: { base: tiny }
tasks: [{ env: arithmetic, digits: [1] }]
rollout: { use: harness, command: [node, play.cjs], prompts: 2, group: 3, parallel: 3, max_tokens: 6 }
reward: { terms: { verdict: { use: environment } } }
evaluation: { prompts: 2, samples: 1, pass_at: [1], every: 1000 }
steps: 2
`;

const row = z.looseObject({
  step: z.number(),
  group: z.string(),
  index: z.number(),
  use: z.string(),
  finish: z.string(),
  tokens: z.array(z.number()),
  origin: z.array(z.string()),
  versions: z.array(z.number()),
  logp_old: z.array(z.number().nullable()),
  logp_new: z.array(z.number().nullable()).optional(),
  part: z.object({ number: z.number(), of: z.number() }).optional(),
  rewards: z.record(z.string(), z.unknown()).optional(),
  errors: z.record(z.string(), z.string()).optional(),
  turns: z.array(z.looseObject({ role: z.string(), start: z.number(), end: z.number() })).default([]),
});

test("a program's calls train with the policy's own tokens; one that fails is an error of its rollout", async () => {
  const workspace = new Workspace();
  try {
    writeFileSync(join(workspace.folder, "play.cjs"), play);
    writeFileSync(join(workspace.folder, "played.gradus.yaml"), config);
    const run = await workspace.finish("run", "played.gradus.yaml", "--json");
    assert.equal(run.code, 0, run.stderr);
    const id = run.of("started")[0]!.run!;
    const said = await workspace.finish("rollouts", id, "--json", "--where", "use = 'train'");
    const rows = said.text
      .trim()
      .split("\n")
      .map((line) => row.parse(JSON.parse(line)));
    const failed = rows.filter(({ errors }) => errors !== undefined);
    for (const { errors, finish } of failed) {
      assert.match(errors!["verdict"]!, /exit code 3/);
      assert.equal(finish, "error", "though its first call ended as it should");
    }
    const played = rows.filter(({ errors }) => errors === undefined);
    assert.ok(played.length > 0);
    // What was sampled is what trains: the server's tokens, turn by turn, under the weights of the step.
    const sampled = new Set<string>();
    for (const line of readFileSync(join(workspace.folder, "said.jsonl"), "utf8").trim().split("\n")) {
      const { said: calls } = z
        .looseObject({ said: z.array(z.looseObject({ token_ids: z.array(z.number()) })) })
        .parse(JSON.parse(line));
      for (const { token_ids } of calls) sampled.add(token_ids.join());
    }
    const versionsOf = new Map<number, Set<number>>();
    for (const { tokens, origin, turns, versions, step } of played) {
      const seen = versionsOf.get(step) ?? new Set<number>();
      versionsOf.set(step, seen);
      for (const { role, start, end } of turns) {
        if (role !== "assistant") continue;
        assert.ok(sampled.has(tokens.slice(start, end).join()), "a turn that nobody sampled");
        assert.ok(origin.slice(start, end).every((one) => one === "written"));
        for (const version of versions.slice(start, end)) seen.add(version);
      }
    }
    for (const [step, seen] of versionsOf) assert.equal(seen.size, 1, `step ${step} has ${[...seen].join()}`);
    // The conversation, and the summary as a row of its own that stands for the episode.
    const parts = played.filter(({ part }) => part !== undefined);
    assert.ok(parts.some(({ part }) => part!.number === 1 && part!.of === 2));
    for (const { part, rewards, turns } of parts) {
      assert.equal(turns.filter(({ role }) => role === "assistant").length, part!.number === 1 ? 2 : 1);
      assert.equal(rewards?.["verdict"] !== undefined && rewards["verdict"] !== null, part!.number === 2);
    }
  } finally {
    await workspace.remove();
  }
});

const failing = `
console.error("no grader here");
process.exit(4);
`;
const dryRun = z.looseObject({
  episodes: z.array(
    z.looseObject({
      rows: z.array(z.looseObject({ turns: z.array(z.looseObject({ role: z.string() })) })),
      verdict: z.number().nullable(),
      error: z.string().optional(),
    }),
  ),
});

test("a dry run has the program play; a program that always fails ends the run with what it said", async () => {
  const workspace = new Workspace();
  try {
    const { folder } = workspace;
    writeFileSync(join(folder, "play.cjs"), play.replace("work.task.data.left === 7", "false"));
    writeFileSync(join(folder, "failing.cjs"), failing);
    writeFileSync(join(folder, "played.gradus.yaml"), config);
    const dry = await workspace.finish("run", "played.gradus.yaml", "--dry-run", "--json");
    assert.equal(dry.code, 0, dry.stderr);
    const { episodes } = dryRun.parse(JSON.parse(dry.text));
    assert.equal(episodes.length, 4);
    for (const { rows, verdict, error } of episodes) {
      const roles = rows.map(({ turns }) => turns.map(({ role }) => role));
      assert.deepEqual(roles, [["assistant", "user", "assistant"], ["assistant"]], "and the summary");
      assert.ok(verdict === 0 || verdict === 1);
      assert.equal(error, undefined);
    }
    const bad = ["played.gradus.yaml", "--set", 'rollout.command=["node","failing.cjs"]', "--json"];
    const run = await workspace.finish("run", ...bad, "--set", "reward.max_failed_steps=1");
    assert.equal(run.code, 1, run.stderr);
    assert.match(
      run.text,
      /The harness failed in every episode of a step, so nothing was trained. First, at step 0: [^"]*exit code 4: no grader here/,
    );
    assert.match(run.text, /rollout.command/);
  } finally {
    await workspace.remove();
  }
});
