/** From an edit of a verl project's reward.py to the answer over all of its imported run: the first edit, which reads the files, and later ones. `[--steps=20] [--rollouts=1024]` */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { ask } from "../shared/daemon/request.ts";
import { rescore } from "../shared/protocol/protocol.ts";
import { withoutPython } from "../test/support/pythonReward.ts";
import { Sandbox } from "../test/rpc/daemon.ts";
import { measured, median, option, skipped } from "./report.ts";
import { formScore, group, importWith, verlLine } from "./verlDump.ts";

const [steps, perStep] = [option("steps", 20), option("rollouts", 1024)];
const edits = option("edits", 6);
const setting = `${steps * perStep} rollouts of 1,000 characters in ${steps} steps, a regular expression`;

/** As verl's gsm8k does: the last number after `####`. */
const reward = (wrong: number): string => `import re

FINAL = re.compile(r"#### (\\-?[0-9\\.\\,]+)")

def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    found = FINAL.findall(solution_str[-300:])
    return 1.0 if found and found[-1].replace(",", "") == ground_truth else ${wrong}
`;
const config = `name: sums
tasks: [{ env: countdown, numbers: [3] }]
reward: { terms: { score: ./reward.py } }
rollout: { prompts: ${perStep / group}, group: ${group} }
steps: ${steps}
`;
const words = "so the answer follows from what is given, ".repeat(24);

function write(folder: string): void {
  const rollouts = join(folder, "out", "rollouts");
  mkdirSync(rollouts, { recursive: true });
  for (let step = 1; step <= steps; step++) {
    const lines = Array.from({ length: perStep }, (_, row) => {
      const right = (row * 7 + step) % 3 === 0;
      return verlLine(words, { step, row, off: right ? 0 : 1, score: right ? 1 : formScore });
    });
    writeFileSync(join(rollouts, `${step}.jsonl`), lines.join(""));
  }
  writeFileSync(join(folder, "reward.py"), reward(0.1));
  writeFileSync(join(folder, "sums.gradus.yaml"), config);
}

async function measure(box: Sandbox): Promise<void> {
  const folder = dirname(box.file);
  const file = join(folder, "sums.gradus.yaml");
  write(folder);
  const { run } = await importWith({ store: box.store, from: join(folder, "out") }, { file, text: config });
  const connection = await box.connect();
  await box.reach(connection, run, ({ status }) => status === "finished");
  const times: number[] = [];
  let covered = steps;
  for (let edit = 0; edit < edits; edit++) {
    const unsaved = { [join(folder, "reward.py")]: reward(-0.5 - edit / 8) };
    const began = performance.now();
    const { rescored } = await ask(connection, rescore, { uri: file, unsaved, trusted: true, scope: "run" });
    times.push(performance.now() - began);
    // The first reads the files as well.
    if (edit > 0) covered = Math.min(covered, rescored?.steps ?? 0);
    else
      measured({
        what: "steps that the first edit covers, which reads the files",
        value: rescored?.steps ?? 0,
        unit: "steps",
        setting,
      });
  }
  measured({ what: "first edit of reward.py to its answer", value: times[0]!, unit: "ms", setting });
  measured({
    what: "edit of reward.py to the whole answer, median",
    value: median(times.slice(1)),
    unit: "ms",
    goal: 2_000,
    setting,
  });
  measured({
    what: "steps of the run that were covered",
    value: covered,
    unit: "steps",
    goal: steps,
    least: true,
    setting,
  });
}

if (withoutPython !== false) skipped("scoring an imported run again", withoutPython);
else {
  const box = await Sandbox.make();
  try {
    await measure(box);
  } finally {
    await box.end();
  }
}
