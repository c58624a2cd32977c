/** From a keystroke in a reward to what it would have changed: the last step's rollouts, then the whole run's. `[--steps=100]` */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { ask } from "../shared/daemon/request.ts";
import { openAttempt } from "../shared/log/writer.ts";
import { rescore, rescoreSweep, rolloutsQuery, runsList } from "../shared/protocol/protocol.ts";
import { loadConfig } from "../server/rules/load.ts";
import { EditorClient } from "../test/support/editorClient.ts";
import { end, group, rollout, start, metrics, type Written } from "../test/unit/log/sample.ts";
import { Sandbox } from "../test/rpc/daemon.ts";
import { measured, median, option, quantile } from "./report.ts";
import { writtenRun } from "./store.ts";

const steps = option("steps", 100);
const [prompts, siblings, tokens] = [64, 8, 64];
const edits = option("edits", 12);
const setting = `${steps} steps of ${prompts * siblings} rollouts of ${tokens} tokens`;

const text = `tasks: [{ env: countdown, numbers: [3] }]
rollout: { prompts: ${prompts}, group: ${siblings}, max_tokens: ${tokens} }
reward:
  terms:
    correct: { use: equation, weight: 1 }
    brevity: { use: length, weight: 0.1 }
    mine: { use: ./mine.ts, weight: 0.5 }
`;
const mine = (factor: number): string =>
  `export const score = ({ response }) => ${factor} * (response.match(/\\d/g) ?? []).length;\n`;

/** Deterministic noise in [0, 1). */
const noise = (...key: readonly number[]): number => {
  const value =
    Math.sin(key.reduce((sum, each, place) => sum + each * (12.9898 + place * 78.233), 1)) * 43758.5453;
  return value - Math.floor(value);
};

function row(step: number, prompt: number, index: number): Written {
  const sample = rollout(step, prompt * siblings + index, `task-${prompt}`);
  if (sample.kind !== "rollout") throw new Error("a sample of a rollout is none");
  const correct = Number(noise(step, prompt, index) > 0.6);
  const own = Math.floor(noise(index, step, prompt) * 9);
  const brevity = 1 - noise(prompt, index, step);
  return {
    ...sample,
    row: {
      ...sample.row,
      index,
      response: `${"7 ".repeat(own)}= ${correct}`,
      rewards: { correct, brevity, mine: own },
      errors: {},
      reward: correct + 0.1 * brevity + 0.5 * own,
      advantage: 0,
    },
    columns: {
      tokens: new Int32Array(tokens).fill(5),
      origin: new Uint8Array(tokens),
      mask: new Uint8Array(tokens).fill(1),
      logp_old: new Float32Array(tokens).fill(-0.5),
      entropy: new Float32Array(tokens).fill(0.5),
      advantages: new Float64Array(tokens),
    },
  };
}

function record(store: string, file: string): void {
  const { folder, log: begun } = writtenRun(store, "long", steps);
  begun.close();
  writeFileSync(
    join(folder, "run.json"),
    JSON.stringify({ id: "long", file, name: "long", set: [], createdAt: new Date().toISOString(), steps }),
  );
  const log = openAttempt(folder, 1);
  const config = loadConfig(file, { text }).tree;
  log.append({ ...start(1, 0, "long"), file, authored: text, config, bundles: {} } as Written);
  log.commit(-1);
  for (let step = 0; step < steps; step++) {
    log.append(metrics(step));
    for (let prompt = 0; prompt < prompts; prompt++) {
      log.append({ ...group(step, `task-${prompt}`), size: siblings } as Written);
      for (let index = 0; index < siblings; index++) log.append(row(step, prompt, index));
    }
    log.commit(step);
  }
  log.append(end(steps - 1));
  log.commit(steps - 1);
  log.close();
}

/** Until it holds, looked at as often as messages come. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(1);
}

const box = await Sandbox.make();
try {
  const file = join(dirname(box.file), "long.gradus.yaml");
  writeFileSync(file, text);
  writeFileSync(join(dirname(file), "mine.ts"), mine(1));
  record(box.store, file);
  const editor = new EditorClient(await box.link({ role: "editor" }), file);
  const ended = async (): Promise<boolean> =>
    (await ask(editor.connection, runsList, {})).runs.some(
      ({ status, step }) => status === "finished" && step === steps - 1,
    );
  await until(ended);
  // Its rollouts become rows when somebody asks: not in the time of an edit.
  await ask(editor.connection, rolloutsQuery, { run: "long", limit: 1 });
  await editor.open(text);
  const flipped = async (): Promise<string> =>
    (await editor.labels()).find((label) => label.includes("flipped")) ?? "";

  const keystrokes: number[] = [];
  let shown = "";
  for (let edit = 0; edit < edits; edit++) {
    const began = performance.now();
    await editor.change(text.replace("weight: 0.1", `weight: ${-1 - edit}`));
    await until(async () => {
      const label = await flipped();
      const other = label !== "" && label !== shown;
      if (other) shown = label;
      return other;
    });
    // The first reads the rollouts: it is measured apart.
    if (edit > 0) keystrokes.push(performance.now() - began);
    else measured({ what: "first edit to its hint", value: performance.now() - began, unit: "ms", setting });
    await wait(400);
  }
  measured({
    what: "weight typed to its hint, median",
    value: median(keystrokes),
    unit: "ms",
    goal: 150,
    setting,
  });
  measured({
    what: "weight typed to its hint, p95",
    value: quantile(keystrokes, 0.95),
    unit: "ms",
    goal: 150,
    setting,
  });

  const typed: number[] = [];
  for (let edit = 0; edit < edits; edit++) {
    const began = performance.now();
    const unsaved = { [join(dirname(file), "mine.ts")]: mine(2 + edit) };
    await ask(editor.connection, rescore, { uri: file, unsaved, trusted: true });
    if (edit > 0) typed.push(performance.now() - began);
  }
  measured({
    what: "reward function typed to a step's answer, median",
    value: median(typed),
    unit: "ms",
    goal: 150,
    setting,
  });

  const whole: number[] = [];
  let covered = 0;
  for (let edit = 0; edit < 4; edit++) {
    const began = performance.now();
    const { rescored } = await ask(editor.connection, rescore, {
      uri: file,
      text: text.replace("weight: 1 ", `weight: ${2 + edit} `),
      trusted: true,
      scope: "run",
    });
    whole.push(performance.now() - began);
    covered = rescored?.steps ?? 0;
  }
  measured({
    what: "weight over the whole run, median",
    value: median(whole),
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

  const swept = performance.now();
  await ask(editor.connection, rescoreSweep, { uri: file, text, term: "brevity", trusted: true });
  measured({ what: "sweep of a weight", value: performance.now() - swept, unit: "ms", goal: 500, setting });
} finally {
  await box.end();
}
