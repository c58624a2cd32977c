// One optimiser round of the example, against TRL's GRPOTrainer on the same cores: same model size, prompts, group and
// lengths. The two sides take turns, and the median of the rounds counts; run it on a quiet machine.
//   node bench/round.mjs [--rounds 3] [--steps 12] [--python python3] [--ours]
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    steps: { type: "string", default: "12" },
    python: { type: "string", default: process.env.PYTHON ?? "python3" },
    /** Our side only: to see that it works. */
    ours: { type: "boolean", default: false },
  },
});
const steps = Number(values.steps);
const leftOut = 2; // the first steps build graphs and caches, on both sides
const store = mkdtempSync(join(tmpdir(), "gradus-round-"));
mkdirSync(join(store, ".gradus"));

async function lines(command, words, each) {
  const child = spawn(command, words, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  for await (const text of createInterface({ input: child.stdout }))
    if (text.startsWith("{")) each(JSON.parse(text));
  const code = await ended;
  if (code !== 0) throw new Error(`${command} ${words[0]} ended with ${code}`);
}

/** Seconds of each practice step: every group is admitted, so that both sides train on as many rows. */
async function ours() {
  const warmUp = 150;
  const settings = [
    "curriculum.admission=none",
    `stages.warm-up.steps=${warmUp}`,
    `stages.practice.steps=${steps}`,
    "evaluation.every=1000000",
    "evaluation.prompts=8",
    "reward.terms.brevity=null",
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
    if (line.type === "step" && line.step >= warmUp + leftOut) seconds.push(line.metrics["time/total"]);
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

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const result = { ours: [], theirs: [] };
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    result.ours.push(median(await ours()));
    if (!values.ours) result.theirs.push(median(await theirs()));
    console.error(
      `round ${round + 1}: gradus ${result.ours[round].toFixed(3)} s${values.ours ? "" : `, TRL ${result.theirs[round].toFixed(3)} s`}, load ${loadavg()[0].toFixed(1)}`,
    );
  }
} finally {
  spawn(process.execPath, [join("bin", "gradus"), "daemon", "stop", "--force", "--store", store], {
    stdio: "ignore",
  }).once("close", () => rmSync(store, { recursive: true, force: true }));
}
console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.version}, 64 prompts × 8, at most 20 tokens`,
);
console.log("| side | seconds a round, median | rounds |\n|---|---|---|");
console.log(
  `| gradus | ${median(result.ours).toFixed(3)} | ${result.ours.map((s) => s.toFixed(3)).join(", ")} |`,
);
if (!values.ours) {
  console.log(
    `| TRL GRPOTrainer | ${median(result.theirs).toFixed(3)} | ${result.theirs.map((s) => s.toFixed(3)).join(", ")} |`,
  );
  console.log(
    `\nratio: ${(median(result.theirs) / median(result.ours)).toFixed(2)}× (above 1: Gradus is faster)`,
  );
}
