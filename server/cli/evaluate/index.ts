import { TextPattern } from "../../lib/texts/textPattern.ts";
import { resolve } from "node:path";
import { loadFile, type LoadedFile } from "../../frameworks/use/asConfig/load.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { checkpointWords, findCheckpoint } from "../runs/checkpointNames.ts";
import { exit, printJson, type Command } from "../command.ts";
import { collect, collectPairs, complainAbout } from "../text/diagnostics.ts";
import { sayConverted } from "../loadOrComplain.ts";
import { whole } from "../options.ts";
import { compared, type ComparedAsk } from "./compared.ts";
import { measure } from "./measure.ts";
import { lastLine } from "../../methods/generation/pattern.ts";
import { patternOption } from "./patternOption.ts";
import { printEvaluation } from "./print.ts";
import { writeUnsolved } from "./unsolved.ts";

interface Options extends ComparedAsk {
  readonly set: string[];
  readonly seed?: number;
  readonly json?: boolean;
  readonly compare?: string;
  readonly unsolved?: string;
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
  const { json, compare, unsolved } = options;
  // The checkpoint is the model.
  const config = measuredBy(file, checkpoint, options);
  if (config === undefined) return;
  const own = await measure(checkpoint, config, options, { keep: compare !== undefined });
  const other = compare === undefined ? undefined : await compared(own, compare, config, options);
  if (unsolved !== undefined) writeUnsolved(unsolved, checkpoint, own.results);
  if (json === true)
    printJson({ file, tasks: own.tasks.length, ...own.report, ...(other && { compare: other }) });
  else printEvaluation(own, other);
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
        "--random <weak>",
        "with --compare: a checkpoint that knows nothing; scores are also given on the scale from it (0) to the other (1)",
      )
      .option(
        "--probe <name=field>",
        "also ask with a field of the tasks in the prompt, or in parts if the field is a list of { prompt, answer }",
        collectPairs("name=field, e.g. plan=plan"),
        [],
      )
      .option(
        "--out <file>",
        "write every answer as a rollout, one per line; a file that ends in .parquet is Parquet, one in .eval a log of Inspect",
      )
      .option(
        "--answer <pattern>",
        "regular expression whose first group is what a response comes to, for votes; default: its last line",
        patternOption,
        new TextPattern(lastLine),
      )
      .option(
        "--unsolved <file>",
        "write the tasks without a right answer as a list, for `evaluation.unsolved_by` of a config",
      )
      .option("--set <path=value>", "override a value of the config", collect, [])
      .option("--seed <n>", "seed of the held-out tasks and the sampling; default: the config's", whole())
      .option("--store <folder>", "the store with the named runs, or a folder in its workspace")
      .option("--json", "one JSON value")
      .action(run);
  },
};
