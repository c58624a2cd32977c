import { InvalidArgumentError, Option } from "commander";
import { needs } from "../config/needs.ts";
import { UserError } from "../../shared/lib/errors.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { ReplayFaults } from "../analysis/history/faults.ts";
import { readHistory } from "../analysis/history/read.ts";
import { replay } from "../analysis/history/replay.ts";
import { whatIf } from "../analysis/history/whatIf.ts";
import { compare } from "../analysis/simulate/compare.ts";
import { scenarios } from "../analysis/simulate/scenarios.ts";
import { simulatedStage } from "../analysis/simulate/stage.ts";
import { complain, print, printJson, type Command } from "./command.ts";
import {
  curriculumLines,
  faultLine,
  simulationHead,
  simulationLines,
  whatIfLines,
} from "./text/curriculumText.ts";
import { collect, pathText } from "./text/diagnostics.ts";
import { loadOrComplain } from "./loadOrComplain.ts";

interface Options {
  readonly history?: string;
  readonly whatIf?: boolean;
  readonly simulate?: boolean;
  readonly scenario?: string;
  readonly seeds: number;
  readonly steps?: number;
  readonly set: string[];
  readonly json?: boolean;
}

async function replayed(config: RunConfig, file: string, json: boolean): Promise<void> {
  const faults = new ReplayFaults();
  const steps = replay(config, await readHistory(file), faults);
  if (json) for (const step of steps) printJson(step);
  else for (const line of curriculumLines([...steps])) print(line);
  warn(file, faults);
}

async function imagined(config: RunConfig, file: string, json: boolean): Promise<void> {
  const faults = new ReplayFaults();
  const steps = await whatIf(config, await readHistory(file), faults);
  if (json) for (const step of steps) printJson(step);
  else for (const line of whatIfLines(steps)) print(line);
  warn(file, faults);
}

function warn(file: string, faults: ReplayFaults): void {
  for (const fault of faults.all()) complain(faultLine(pathText(file), fault));
}

async function simulated(config: RunConfig, options: Options): Promise<void> {
  const { stage, steps: most } = simulatedStage(config);
  const { seeds, scenario, json } = options;
  const steps = options.steps ?? most;
  if (json !== true) for (const line of simulationHead(stage.name, seeds, steps)) print(line);
  for (const one of scenarios.filter(({ name }) => scenario === undefined || name === scenario)) {
    const comparison = await compare(stage.body, one, { seeds, steps, seed: config.seed });
    if (json === true) printJson(comparison);
    else for (const line of simulationLines(one, comparison)) print(line);
  }
}

async function run(file: string, options: Options): Promise<void> {
  const { history, simulate, set, json } = options;
  const config = loadOrComplain(file, { set, recorded: true }, { needs: needs.written });
  if (config === undefined) return;
  if (history !== undefined)
    return options.whatIf === true
      ? imagined(config, history, json === true)
      : replayed(config, history, json === true);
  if (simulate === true) return simulated(config, options);
  throw new UserError("there are no outcomes for the curriculum", {
    code: "usage",
    action: "Pass recorded outcomes with --history FILE, or simulate learners with --simulate.",
  });
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  return value;
};

export const command: Command = {
  name: "curriculum",
  configure: (program) => {
    program
      .argument("<file>", "the config, or a verl, TRL or OpenRLHF one")
      .option("--history <file>", "recorded outcomes, one group per line")
      .option("--what-if", "with --history: what this curriculum would have drawn, with intervals")
      .option("--simulate", "run it on simulated learners and compare it with uniform sampling")
      .addOption(
        new Option("--scenario <name>", "with --simulate: only this world").choices(
          scenarios.map(({ name }) => name),
        ),
      )
      .option("--seeds <n>", "with --simulate: learners in each world", whole, 10)
      .option("--steps <n>", "with --simulate: steps; default: the first rl stage's, at most 200", whole)
      .option("--set <path=value>", "overrides a value of the config", collect, [])
      .option(
        "--trust-workspace",
        "let it start the Python that the config or its folder names, for tasks that Python makes",
      )
      .option("--json", "one JSON object per step, or per world")
      .action(run);
  },
};
