/**
 * Harnesses as PyPI ships them play the episodes of examples/harness: verifiers by its own task, agent and client, Inspect by
 * its own task, solver and scorer. Each trains a tiny policy, which learns, and not where every advantage is 0; what is
 * recorded is what the server captured from the sampler, token by token.
 */
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { mean } from "../../shared/lib/mean.ts";
import { CharacterTokenizer } from "../../server/engine/tokenizers/characters.ts";
import { installed } from "../support/pythonPackages.ts";
import { Workspace } from "../support/workspace.ts";

const harnesses = [
  {
    name: "verifiers 0.4",
    file: "playVerifiers.py",
    whole: ["verifiers==0.4.0"],
    versions: ["3.12", "3.11"],
  },
  {
    name: "Inspect 0.3",
    file: "playInspect.py",
    whole: ["inspect-ai==0.3.285", "openai==3.57.0"],
    versions: ["3.12", "3.11"],
  },
];

/** Hands the lines on, and writes down what the server captured before it says that a rollout is over. */
const tee = `
const { spawn } = require("node:child_process");
const { appendFileSync } = require("node:fs");
const { createInterface } = require("node:readline");
const [, , ...command] = process.argv;
const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const works = new Map();
createInterface({ input: process.stdin })
  .on("line", (line) => {
    const work = JSON.parse(line);
    works.set(work.id, work);
    child.stdin.write(line + "\\n");
  })
  .on("close", () => child.stdin.end());
createInterface({ input: child.stdout }).on("line", async (line) => {
  if (!line.startsWith("{")) return;
  const said = JSON.parse(line);
  const { url, session, api_key, task, split } = works.get(said.id);
  const asked = await fetch(url + "/sessions/" + session + "/captured", { headers: { authorization: "Bearer " + api_key } });
  const { captured = [] } = await asked.json();
  appendFileSync("captured.jsonl", JSON.stringify({ split, answer: task.answer, reward: said.reward, captured }) + "\\n");
  console.log(line);
});
child.on("exit", (code) => process.exit(code ?? 1));
`;

const captured = z.looseObject({
  split: z.string(),
  answer: z.string(),
  reward: z.number(),
  captured: z.tuple([
    z.looseObject({
      text: z.string(),
      prompt: z.string(),
      prompt_tokens: z.array(z.number()),
      tokens: z.array(z.number()),
      versions: z.array(z.number()),
      logp_old: z.array(z.number()),
    }),
  ]),
});
const recorded = z.looseObject({
  reward: z.number(),
  context: z.array(z.number()),
  tokens: z.array(z.number()),
  versions: z.array(z.number()),
  logp_old: z.array(z.number()),
});
const stepLine = z.looseObject({ type: z.string(), metrics: z.record(z.string(), z.number()).optional() });

const linesOf = (text: string): unknown[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

interface Trained {
  /** Mean reward of each step. */
  readonly rewards: readonly number[];
  readonly seconds: number;
}

/** Runs the example with a harness, and compares every rollout of its steps with what was captured. */
async function trained(words: readonly string[], steps: number, set: readonly string[]): Promise<Trained> {
  const workspace = new Workspace();
  const began = performance.now();
  try {
    cpSync(resolve("examples/harness"), workspace.folder, { recursive: true });
    writeFileSync(join(workspace.folder, "tee.cjs"), tee);
    const settings = [
      `rollout.command=${JSON.stringify([process.execPath, "tee.cjs", ...words])}`,
      "rollout.warm=true",
      "rollout.parallel=64",
      "engine.threads=1",
      `stages.1.steps=${steps}`,
      "evaluation.prompts=2",
      ...set,
    ].flatMap((one) => ["--set", one]);
    const run = await workspace.finish("run", "harness.gradus.yaml", "--json", ...settings);
    assert.equal(run.code, 0, run.stderr);
    const id = run.of("started")[0]!.run!;
    const rows = await workspace.finish("rollouts", id, "--json", "--where", "use = 'train'");
    const file = join(workspace.folder, "captured.jsonl");
    assert.ok(existsSync(file), run.stderr);
    same(rows.text, readFileSync(file, "utf8"), steps * 64);
    const rewards = linesOf(run.text).flatMap((line) => {
      const { metrics } = stepLine.parse(line);
      return metrics?.["reward/verdict"] ?? [];
    });
    return { rewards, seconds: (performance.now() - began) / 1000 };
  } finally {
    await workspace.remove();
  }
}

const tokenizer = new CharacterTokenizer();
const known = (row: {
  readonly tokens: readonly number[];
  readonly versions: readonly number[];
  readonly logp_old: readonly number[];
}): string => JSON.stringify([row.tokens, row.versions, row.logp_old.map((logp) => logp.toFixed(12))]);

/** As many rollouts, with the same contexts, tokens, versions, log-probs and rewards; and the reward is of that text. */
function same(rows: string, file: string, count: number): void {
  const calls = linesOf(file).map((line) => captured.parse(line));
  const sampled = calls
    .filter(({ split }) => split === "train")
    .map(({ reward, answer, captured: [call] }) => {
      assert.equal(tokenizer.decode(call.tokens), call.text);
      assert.equal(tokenizer.decode(call.prompt_tokens), call.prompt);
      // Inspect pays for "even;", too.
      if (call.text.trim() === answer) assert.equal(reward, 1);
      else assert.ok(reward === 0 || call.text.includes(answer), `${reward} of ${call.text} for ${answer}`);
      return `${JSON.stringify([call.prompt_tokens, reward])} ${known(call)}`;
    });
  const trainedOn = linesOf(rows)
    .map((line) => recorded.parse(line))
    .map((row) => `${JSON.stringify([row.context, row.reward])} ${known(row)}`);
  assert.equal(trainedOn.length, count);
  assert.deepEqual(trainedOn.sort(), sampled.sort());
}

for (const { name, file, whole, versions } of harnesses) {
  const found = installed({ versions, whole, alone: [] });
  const words = found.kind === "python" ? [found.path, file] : [];
  const skip = found.kind === "none" && found.why;

  test(`${name}: three steps train with the sampler's own tokens`, { skip }, async () => {
    const { rewards } = await trained(words, 3, ["stages.0.steps=60"]);
    assert.equal(rewards.length, 3);
  });

  test(`${name}: the reward rises, and not where every advantage is 0`, { skip }, async (t) => {
    const ends = ({ rewards }: Trained): readonly [number, number] => [
      mean(rewards.slice(0, 3)),
      mean(rewards.slice(-3)),
    ];
    const learned = await trained(words, 20, []);
    const control = await trained(words, 20, ["advantage.scale=zero"]);
    const [[before, after], [still, stays]] = [ends(learned), ends(control)];
    t.diagnostic(
      `${before.toFixed(3)} → ${after.toFixed(3)} in ${learned.seconds.toFixed(0)} s; without advantages ${still.toFixed(3)} → ${stays.toFixed(3)}`,
    );
    assert.ok(after > before + 0.2, `${before} → ${after}`);
    assert.ok(after > stays + 0.15, `${after}, and ${stays} without advantages`);
  });
}
