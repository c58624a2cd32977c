// One optimiser round of the example beside one of TRL's GRPOTrainer, in turns on the same cores. `[--rounds 3] [--steps 12] [--python PATH] [--ours]`
// Same model size, prompts, group and lengths; the median of the rounds counts. It needs a quiet machine.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { measured, skipped } from "./report.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    steps: { type: "string", default: "12" },
    python: { type: "string", default: process.env.GRADUS_PEER_PYTHON ?? process.env.PYTHON ?? "python3" },
    /** Our side only: to see that it works. */
    ours: { type: "boolean", default: false },
  },
});
const steps = Number(values.steps);
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

/**
 * Seconds of each practice step. Every group is admitted and brevity is paid, so that hardly a row has no gradient:
 * rows without one are left out by this engine, and the other side has no such short cut.
 */
async function ours() {
  const warmUp = 150;
  const settings = [
    "curriculum.admission=none",
    `stages.warm-up.steps=${warmUp}`,
    `stages.practice.steps=${steps}`,
    "evaluation.every=1000000",
    "evaluation.prompts=8",
    "reward.terms.brevity=null",
    "reward.terms.short={ use: length, weight: 0.1 }",
  ];
  const seconds = [];
  const words = [
    join("bin", "gradus"),
    "run",
    "examples/countdown/countdown.gradus.yaml",
    "--json",
    "--store",
    store,
    ...settings.flatMap((one) => ["--set", one]),
  ];
  await lines(process.execPath, words, (line) => {
    if (line.type !== "step" || line.step < warmUp + leftOut) return;
    seconds.push(line.metrics["time/total"]);
    trained.push(line.metrics["tokens/trained"] / line.metrics["tokens/generated"]);
  });
  return seconds;
}

async function theirs() {
  const seconds = [];
  await lines(values.python, ["bench/peer/trl_grpo.py", "--steps", String(steps)], (line) => {
    if (line.step >= leftOut) seconds.push(line.seconds);
  });
  return seconds;
}

/** Of the tokens written, the share that is trained. */
const trained = [];

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const result = { ours: [], theirs: [] };
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    result.ours.push(median(await ours()));
    if (peer.missing === undefined) result.theirs.push(median(await theirs()));
    console.error(
      `round ${round + 1}: gradus ${result.ours[round].toFixed(3)} s${peer.missing !== undefined ? "" : `, TRL ${result.theirs[round].toFixed(3)} s`}, load ${loadavg()[0].toFixed(1)}`,
    );
  }
} finally {
  spawn(process.execPath, [join("bin", "gradus"), "daemon", "stop", "--force", "--store", store], {
    stdio: "ignore",
  }).once("close", () => rmSync(store, { recursive: true, force: true }));
}
const setting = `64 prompts × 8, at most 20 tokens, median of ${values.rounds} rounds`;
measured({ what: "a round of the example", value: median(result.ours), unit: "s", setting });
measured({ what: "share of its tokens that train", value: median(trained), unit: "", setting });
if (peer.missing === undefined) {
  const ratio = median(result.theirs) / median(result.ours);
  measured({ what: "the same round by TRL's GRPOTrainer", value: median(result.theirs), unit: "s", setting });
  measured({ what: "TRL's time over ours", value: ratio, unit: "×", goal: 1, least: true, setting });
} else skipped("the same round by TRL's GRPOTrainer", peer.missing);
