// One optimiser round of the example compared with one of TRL's GRPOTrainer, in turns on the same cores. `[--rounds 3] [--steps 12] [--warm-up 150] [--python PATH] [--model PATH] [--ours]`
// Same model size, warm-up, prompts and group; lengths of both sides are printed. The median of the rounds counts. It needs a quiet machine.
// With a model of 135 million parameters (--model, or GRADUS_SMOLLM2=$(node scripts/getSmolLm2.mjs)) also a step that trains it whole: 4 prompts × 4 answers of exactly 32 tokens.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { measured, skipped } from "./report.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    steps: { type: "string", default: "12" },
    python: { type: "string", default: process.env.GRADUS_PEER_PYTHON ?? process.env.PYTHON ?? "python3" },
    /** Supervised steps before the example's rounds, on both sides. */
    "warm-up": { type: "string", default: "150" },
    /** A Hugging Face folder or a .gguf file of 135 million parameters. */
    model: { type: "string", default: process.env.GRADUS_SMOLLM2 },
    /** Our side only: to see that it works. */
    ours: { type: "boolean", default: false },
  },
});
const steps = Number(values.steps);
const warmUp = Number(values["warm-up"]);
const peer = values.ours ? { missing: "--ours was given" } : { missing: missingPeer() };
const leftOut = 2; // the first steps build graphs and caches, on both sides
const store = mkdtempSync(join(tmpdir(), "gradus-round-"));
mkdirSync(join(store, ".gradus"));

/** Why the other side cannot run, if it cannot. */
function missingPeer() {
  const { status, error } = spawnSync(values.python, ["-c", "import datasets, torch, transformers, trl"], {
    stdio: "ignore",
  });
  if (status === 0) return undefined;
  return error === undefined
    ? `${values.python} has no TRL: pip install torch trl transformers datasets, and name its Python by GRADUS_PEER_PYTHON`
    : `${values.python} does not start: ${error.message}`;
}

async function lines(command, words, each) {
  const child = spawn(command, words, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  for await (const text of createInterface({ input: child.stdout }))
    if (text.startsWith('{"')) each(JSON.parse(text)); // trainers print Python's dicts as well
  const code = await ended;
  if (code !== 0) throw new Error(`${command} ${words[0]} ended with ${code}`);
}

const gradus = (...words) => [join("bin", "gradus"), ...words];
/** What one step was: seconds, tokens written and trained, answers, and the most bytes held so far. */
const ownStep = ({ metrics }, answers) => ({
  seconds: metrics["time/total"],
  generated: metrics["tokens/generated"],
  trained: metrics["tokens/trained"],
  peak: metrics["memory/peak"],
  answers,
});
/** Steps of a run of ours from `from` on. */
async function ownSteps(config, settings, { from, answers }) {
  const found = [];
  const set = settings.flatMap((one) => ["--set", one]);
  const words = gradus("run", config, "--json", "--store", store, ...set);
  await lines(process.execPath, words, (line) => {
    if (line.type === "step" && line.step >= from) found.push(ownStep(line, answers));
  });
  return found;
}
async function peerSteps(...words) {
  const found = [];
  await lines(values.python, ["bench/peer/trl_grpo.py", "--steps", String(steps), ...words], (line) => {
    if (line.step >= leftOut) found.push(line);
  });
  return found;
}

/**
 * The example. Every group is admitted and brevity is rewarded, so that hardly a row has no gradient: rows without one are
 * left out by this engine, and the other side has no such short cut.
 */
const example = {
  name: "the example",
  setting: "64 prompts × 8, at most 20 tokens",
  goal: { goal: 1, least: true },
  ours: () =>
    ownSteps(
      "examples/countdown/countdown.gradus.yaml",
      [
        "curriculum.admission=none",
        `stages.warm-up.steps=${warmUp}`,
        `stages.practice.steps=${steps}`,
        "evaluation.every=1000000",
        "evaluation.prompts=8",
        "reward.terms.brevity=null",
        "reward.terms.short={ use: length, weight: 0.1 }",
      ],
      { from: warmUp + leftOut, answers: 64 * 8 },
    ),
  theirs: () => peerSteps("--warm-up", String(warmUp), "--warm-up-rows", "128"),
};

/** A whole model of 135 million parameters; no answer ends by itself, so that both sides write as many tokens. */
const large = (model, folder) => ({
  name: "a step that trains the whole model",
  setting: "135 M parameters, 4 prompts × 4, 32 tokens",
  goal: {},
  ours: () =>
    ownSteps(
      "examples/minimal/minimal.gradus.yaml",
      [
        `model={ base: ${JSON.stringify(model)} }`,
        "tasks=[{ env: countdown, numbers: [3, 4] }]",
        "rollout={ prompts: 4, group: 4, max_tokens: 32, min_tokens: 32, chat: false }",
        `reward={ terms: { correct: null, spread: { use: ${JSON.stringify(resolve("bench/peer/spread.ts"))} } } }`,
        "curriculum.admission=none",
        "update={ optimizer: { use: adamw, lr: 1.0e-6 } }",
        `stages=[{ name: whole, steps: ${steps} }]`,
        "evaluation={ every: 1000000, prompts: 1, pass_at: [1] }",
      ],
      { from: leftOut, answers: 16 },
    ),
  theirs: () =>
    peerSteps("--model", folder, "--prompts", "4", "--group", "4", "--max-tokens", "32", "--lr", "1e-6"),
});

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const of = (found, value) => median(found.map(value));
/** The medians of one round of one side. */
const summary = (found) => ({
  seconds: of(found, ({ seconds }) => seconds),
  length: of(found, ({ generated, answers }) => generated / answers),
  share: of(found, ({ generated, trained }) => trained / generated),
  each: of(found, ({ seconds, trained }) => seconds / trained),
  peak: Math.max(...found.map(({ peak }) => peak)),
});
const inWords = (side, { seconds, length, share }) =>
  `${side} ${seconds.toFixed(3)} s, ${length.toFixed(1)} tokens an answer, ${Math.round(100 * share)} % trained`;

async function compare({ name, setting: what, goal, ours, theirs }) {
  const result = { ours: [], theirs: [] };
  for (let round = 0; round < Number(values.rounds); round++) {
    result.ours.push(summary(await ours()));
    if (peer.missing === undefined) result.theirs.push(summary(await theirs()));
    const both = [inWords("gradus", result.ours[round])];
    if (peer.missing === undefined) both.push(inWords("TRL", result.theirs[round]));
    console.error(`${name}, round ${round + 1}: ${both.join("; ")}; load ${loadavg()[0].toFixed(1)}`);
  }
  const setting = `${what}, median of ${values.rounds} rounds`;
  report({ name, setting, goal }, result);
}

function report({ name, setting, goal }, { ours, theirs }) {
  const tell = (what, value, unit, more = {}) =>
    measured({ what: `${name}: ${what}`, value, unit, ...more, setting });
  const sides = [["ours", ours], ...(peer.missing === undefined ? [["TRL's GRPOTrainer", theirs]] : [])];
  for (const [side, rounds] of sides) {
    tell(
      `a step, ${side}`,
      of(rounds, ({ seconds }) => seconds),
      "s",
    );
    tell(
      `tokens an answer, ${side}`,
      of(rounds, ({ length }) => length),
      "",
    );
    tell(
      `share of them that train, ${side}`,
      of(rounds, ({ share }) => share),
      "",
    );
    tell(`most memory, ${side}`, of(rounds, ({ peak }) => peak) / 1e9, "GB");
  }
  if (peer.missing !== undefined) return skipped(`${name}: the same by TRL's GRPOTrainer`, peer.missing);
  const ratio = (value) => of(theirs, value) / of(ours, value);
  tell(
    "TRL's time over ours, a step",
    ratio(({ seconds }) => seconds),
    "×",
    goal,
  );
  tell(
    "TRL's time over ours, a trained token",
    ratio(({ each }) => each),
    "×",
  );
}

/** A folder that both sides read: of a GGUF file its weights as safetensors. */
function folderOf(model) {
  if (!model.endsWith(".gguf")) return model;
  const folder = join(store, "model");
  const words = gradus("runs", "export", model, "--to", "hf", "--out", folder);
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${model} could not be converted: ${stderr}`);
  return folder;
}

try {
  await compare(example);
  if (values.model === undefined)
    skipped("a step that trains the whole model", "name one: GRADUS_SMOLLM2=$(node scripts/getSmolLm2.mjs)");
  else {
    const folder = folderOf(resolve(values.model));
    await compare(large(folder, folder));
  }
} finally {
  spawn(process.execPath, [join("bin", "gradus"), "daemon", "stop", "--force", "--store", store], {
    stdio: "ignore",
  }).once("close", () => rmSync(store, { recursive: true, force: true }));
}
