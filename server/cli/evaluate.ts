import { closeSync, openSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { UserError, messageOf } from "../../shared/lib/errors.ts";
import { writeRollout, type RolloutRow } from "../../shared/rollouts/rollouts.ts";
import { loadFile, type LoadedFile } from "../frameworks/asConfig/load.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import type { Interval } from "../analysis/evaluation/bootstrap.ts";
import { differences, intervals, type Difference } from "../analysis/evaluation/compare.ts";
import { gains, type Gain, type Gains } from "../analysis/evaluation/gains.ts";
import type { EvaluationProbe, ProbeReport } from "../analysis/evaluation/probes.ts";
import { isParquet } from "../lib/parquet.ts";
import { randomStream } from "../lib/random.ts";
import type { Answered } from "../run/evaluation/evaluate.ts";
import { examine, type Examined } from "../run/evaluation/examine.ts";
import { evaluationRecord } from "../run/step/log/record.ts";
import { rowOf } from "../store/queries/rolloutRow.ts";
import { checkpointWords, findCheckpoint } from "./runs/checkpointNames.ts";
import { writeRollouts } from "./runs/rolloutsTable.ts";
import { exit, print, printJson, type Command } from "./command.ts";
import { collect, collectPairs, complainAbout } from "./text/diagnostics.ts";
import { sayConverted } from "./loadOrComplain.ts";
import { whole } from "./options.ts";
import { fixed } from "./text/terminal.ts";

interface Options {
  readonly set: string[];
  readonly seed?: number;
  readonly json?: boolean;
  readonly out?: string;
  readonly compare?: string;
  readonly store?: string;
  readonly probe: string[];
}

/** One model's part of the answer. */
interface Measured {
  readonly checkpoint: string;
  readonly metrics: Readonly<Record<string, number>>;
  readonly intervals: Readonly<Record<string, Interval>>;
  readonly probes?: readonly ProbeReport[];
}

interface RolloutsFile {
  readonly keep: (answered: Answered) => void;
  close(): Promise<void> | void;
}

/** Every answer as a rollout. */
function* rolloutsOf(answered: Answered): Generator<RolloutRow> {
  for (let row = 0; row < answered.batch.rows; row++) {
    const record = { kind: "rollout" as const, step: 0, index: row, ...evaluationRecord(0, answered, row) };
    yield rowOf(record, true);
  }
}

/** A Parquet file is written at the end: its columns are those of all rows. */
function rolloutsTable(path: string): RolloutsFile {
  const rows: RolloutRow[] = [];
  return {
    keep: (answered) => void rows.push(...rolloutsOf(answered)),
    close: () => (rows.length === 0 ? undefined : writeRollouts(path, () => from(rows))),
  };
}

async function* from<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** Writes every answer as it comes, one rollout a line. */
function rolloutsFile(path: string): RolloutsFile {
  if (isParquet(path)) return rolloutsTable(path);
  let file: number;
  try {
    file = openSync(path, "w");
  } catch (error) {
    throw new UserError(`the rollouts cannot be written: ${messageOf(error)}`, {
      file: path,
      code: "write",
      cause: error,
      action: "Name a file in a folder that exists and that you may write to.",
    });
  }
  const keep = (answered: Answered): void => {
    for (const row of rolloutsOf(answered)) writeSync(file, `${writeRollout(row)}\n`);
  };
  return { keep, close: () => closeSync(file) };
}

function measured(checkpoint: string, { tasks, report, probes }: Examined, config: RunConfig): Measured {
  const random = randomStream(config.seed, "bootstrap");
  return {
    checkpoint,
    metrics: report.metrics,
    intervals: intervals(tasks, config.evaluation.pass_at, random),
    ...(probes.length > 0 && { probes }),
  };
}

async function measure(checkpoint: string, config: RunConfig, options: Options): Promise<Examined> {
  const file = options.out === undefined ? undefined : rolloutsFile(options.out);
  try {
    const where = findCheckpoint(checkpoint, options.store);
    const probes = options.probe.map(probeOf);
    return await examine(
      where,
      config,
      file?.keep,
      probes,
      (message) => void process.stderr.write(`${message}\n`),
    );
  } finally {
    await file?.close();
  }
}

function probeOf(text: string): EvaluationProbe {
  const at = text.indexOf("=");
  return { name: text.slice(0, at), field: text.slice(at + 1) };
}

const range = ({ low, high }: Interval): string => `[${fixed(low)}, ${fixed(high)}]`;

function printMetrics(
  tasks: number,
  own: Measured,
  other: Measured | undefined,
  difference: Readonly<Record<string, Difference>>,
): void {
  print(`${tasks} held-out tasks; in brackets the 95 % bootstrap interval over tasks`);
  if (other !== undefined)
    print(`last column: ${own.checkpoint} minus ${other.checkpoint}, on the same tasks`);
  const width = Math.max(...Object.keys(own.metrics).map((name) => name.length));
  for (const [name, value] of Object.entries(own.metrics)) {
    const interval = own.intervals[name];
    const gap = difference[name];
    const parts = [
      `${fixed(value)} ${interval === undefined ? "" : range(interval)}`,
      ...(other === undefined ? [] : [fixed(other.metrics[name])]),
      ...(gap === undefined ? [] : [`${gap.value < 0 ? "" : "+"}${fixed(gap.value)} ${range(gap)}`]),
    ];
    print(`  ${name.padEnd(width)}  ${parts.join("   ")}`);
  }
}

const signed = (value: number): string => `${value < 0 ? "" : "+"}${fixed(value)}`;

function printProbes({ checkpoint, probes = [] }: Measured): void {
  for (const { name, field, tasks, asked, metrics } of probes) {
    print(`\n${checkpoint} with ${name} (${field}): ${asked} questions instead of ${tasks} tasks`);
    for (const [metric, { with: own, without, difference, ...interval }] of Object.entries(metrics))
      print(
        `  ${metric.padEnd(8)}  ${fixed(own)}   plain ${fixed(without)}   ${signed(difference)} ${range(interval)}`,
      );
  }
}

function printGains({ k, tasks, total, self_distillation, capability, gained, lost }: Gains): void {
  const line = (name: string, one: Gain, what: string): void =>
    print(`  ${name.padEnd(18)}  ${signed(one.value)} ${range(one)}   ${what}`);
  print(`\nThe gain in pass@1 over ${tasks} tasks, by what the other solves within ${k} samples`);
  line("self-distillation", self_distillation, "on what it solves");
  line("capability", capability, `on what it does not (${gained} gained, ${lost} lost)`);
  line("together", total, "");
}

/** The config without errors, or none. The model that another trainer's file names is seldom here: the checkpoint is. */
function measuredBy(file: string, checkpoint: string, { set, seed, store }: Options): RunConfig | undefined {
  const load = (all: readonly string[]): LoadedFile =>
    loadFile(file, { set: all, ...(seed === undefined ? {} : { seed }) });
  let loaded = load(set);
  const lacking = loaded.diagnostics.some(
    ({ rule, option }) => rule === "model-file" && option === undefined,
  );
  if (loaded.converted !== undefined && lacking)
    loaded = load([...set, `model.base=${JSON.stringify(resolve(findCheckpoint(checkpoint, store)))}`]);
  sayConverted(file, loaded.converted);
  complainAbout(loaded.diagnostics, "error");
  if (loaded.config === undefined) process.exitCode = exit.failed;
  return loaded.config;
}

async function run(checkpoint: string, file: string, options: Options): Promise<void> {
  const { json, compare } = options;
  // The checkpoint is the model.
  const config = measuredBy(file, checkpoint, options);
  if (config === undefined) return;
  const first = await measure(checkpoint, config, options);
  const own = measured(checkpoint, first, config);
  let other: Measured | undefined;
  let difference: Record<string, Difference> = {};
  let gained: Gains | undefined;
  if (compare !== undefined) {
    const { out: _, ...rest } = options;
    const second = await measure(compare, config, rest);
    other = measured(compare, second, config);
    const random = randomStream(config.seed, "bootstrap");
    const { pass_at } = config.evaluation;
    difference = differences(first.tasks, second.tasks, pass_at, random);
    gained = gains(first.tasks, second.tasks, Math.max(...pass_at), random);
  }
  const tasks = first.tasks.length;
  if (json === true)
    printJson({
      file,
      tasks,
      ...own,
      ...(other && { compare: { ...other, difference, ...(gained && { gains: gained }) } }),
    });
  else {
    printMetrics(tasks, own, other, difference);
    printProbes(own);
    if (other !== undefined) printProbes(other);
    if (gained !== undefined) printGains(gained);
  }
}

export const command: Command = {
  name: "evaluate",
  configure: (program) => {
    program
      .argument("<checkpoint>", checkpointWords)
      .argument("<file>", "the config with the tasks, rewards and `evaluation` to measure it by")
      .option(
        "--compare <other>",
        "measure this checkpoint too, on the same tasks, and the difference with its interval",
      )
      .option(
        "--probe <name=field>",
        "also ask with a field of the tasks in the prompt, or in parts if the field is a list of { prompt, answer }",
        collectPairs("name=field, e.g. plan=plan"),
        [],
      )
      .option(
        "--out <file>",
        "write every answer as a rollout, one per line, or as Parquet in a file that ends in .parquet",
      )
      .option("--set <path=value>", "override a value of the config", collect, [])
      .option("--seed <n>", "seed of the held-out tasks and the sampling; default: the config's", whole())
      .option("--store <folder>", "the store with the named runs, or a folder in its workspace")
      .option("--json", "one JSON value")
      .action(run);
  },
};
