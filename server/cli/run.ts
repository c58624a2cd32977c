import { copiedWord } from "../../shared/lib/copiedWord.ts";
import { resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { parse } from "yaml";
import { UserError } from "../../shared/lib/errors.ts";
import type { InputOf, runsStart } from "../../shared/protocol/protocol.ts";
import { dryRunOnSite, refuseBadPair } from "./sites/onSite.ts";
import { loadFile } from "../frameworks/use/asConfig/load.ts";
import { engineKeys } from "../frameworks/lens/engineKeys.ts";
import { modelFacts } from "../analysis/modelFacts.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { rehearse } from "../analysis/rehearsal/rehearse.ts";
import type { Converted } from "../frameworks/trainers/convert.ts";
import { exit, print, printJson, type Command } from "./command.ts";
import { refuseNoConfig, sayConverted } from "./loadOrComplain.ts";
import { rehearsalText } from "./text/rehearsalText.ts";
import { printDryRun } from "./text/dryRunText.ts";
import { collect, complainAbout, pathText } from "./text/diagnostics.ts";
import { followHere } from "./runs/followHere.ts";
import { inQuietChild } from "./text/quietly.ts";
import { reachingHere } from "../sites/ssh.ts";
import { startRun } from "./runs/startRun.ts";
import { storeOf } from "./runs/store.ts";
import { dryRunSweep } from "./sweep/dryRun.ts";
import { planOf } from "./sweep/planOf.ts";
import { runSweep } from "./sweep/runSweep.ts";
import { warnOfTests } from "./warnOfTests.ts";

interface Options {
  readonly set: string[];
  readonly steps?: number;
  readonly seed?: number;
  readonly dryRun?: boolean;
  readonly endpoint?: string;
  readonly model?: string;
  readonly prompts: number;
  readonly json?: boolean;
  readonly store?: string;
  readonly site?: string;
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError("Write a whole number.");
  return value;
}
function positive(text: string): number {
  const value = whole(text);
  if (value < 1) throw new InvalidArgumentError("Write a whole number of at least 1.");
  return value;
}

/** The config without errors, or none: they are printed on stderr before anything starts. */
function checked(file: string, { set, steps, seed }: Options): RunConfig | undefined {
  const { config, diagnostics, converted } = loadFile(file, {
    set,
    models: modelFacts,
    engineKeys,
    trials: "combinations",
    ...(steps === undefined ? {} : { steps }),
    ...(seed === undefined ? {} : { seed }),
  });
  refuseNoConfig(file, { diagnostics });
  sayConverted(file, converted);
  const model = diagnostics.find(({ rule, option }) => rule === "model-file" && option === undefined);
  if (converted !== undefined && model !== undefined) throw twoWays(file, converted);
  const failed = complainAbout(diagnostics);
  if (failed || config === undefined) process.exitCode = exit.failed;
  return failed ? undefined : config;
}

/** What another trainer's file trains is a model of the Hub, as a rule: what can be done here, and what with it. */
function twoWays(file: string, { config }: Converted): UserError {
  const name = pathText(file);
  const { model, rollout } = parse(config);
  // A cluster's step would take this machine hours.
  const large = rollout.prompts * rollout.group * rollout.max_tokens > 100_000;
  const smaller = large ? " --set rollout.prompts=8 --set rollout.max_tokens=64" : "";
  return new UserError(`${name} trains \`${model.base}\`, which is no model on this machine`, {
    code: "usage",
    action: `Rehearse it here with a tiny model: gradus run ${copiedWord(name)} --set model.base=tiny${smaller}
  Train it here with its own model: gradus run ${copiedWord(name)} --set model.base=FOLDER, the folder it was downloaded to`,
  });
}

async function takeStep(config: RunConfig, json: boolean | undefined): Promise<void> {
  const { dryRun } = await import("../run/loop/dryRun.ts");
  const report = await dryRun(config);
  if (json === true) printJson({ type: "dry-run", ...report });
  else printDryRun(report);
  if (report.rewards.some(({ errors }) => errors.length > 0)) process.exitCode = exit.failed;
}

/** The first step with a served model: no engine is loaded, and the config's own model is not looked at. */
async function rehearseServed(config: RunConfig, url: string, options: Options): Promise<void> {
  const { model, prompts, json } = options;
  const report = await rehearse(config, { url, prompts, ...(model === undefined ? {} : { model }) });
  if (json === true) printJson({ type: "rehearsal", ...report });
  else print(rehearsalText(report));
  if (report.terms.some(({ errors }) => errors.length > 0)) process.exitCode = exit.failed;
}

/** @throws UserError where a reward's file does not load: no run is started that would fail at once */
async function loaded(config: RunConfig): Promise<void> {
  const { loadRewards } = await import("../analysis/rewardChecks/loadRewards.ts");
  await loadRewards(config);
}

async function startAndFollow(
  file: string,
  store: string,
  options: Options,
  site?: InputOf<typeof runsStart>["site"],
): Promise<void> {
  const run = await startRun(file, store, options, site);
  await followHere(run, {
    store,
    history: true,
    ...(options.json === undefined ? {} : { json: options.json }),
  });
}

const isHere = ({ site }: Options): boolean => site === undefined || site === "here";

/** TensorFlow says things of itself on stderr; nothing of it is loaded for a site. */
const isQuiet = (options: Options): boolean =>
  options.dryRun === true && options.endpoint === undefined && isHere(options);

/** By the trainer that the config names: here where no site is named. */
async function runElsewhere(config: RunConfig, store: string, options: Options): Promise<void> {
  const { site = "here", json, dryRun } = options;
  const asked = { site, store, json };
  if (dryRun === true) return dryRunOnSite(config, asked);
  const { reference, estimate } = await refuseBadPair(config, asked);
  return startAndFollow(config.file, store, options, {
    ...{ name: reference, env: reachingHere() },
    ...(estimate === undefined ? {} : { estimate }),
  });
}

export const command: Command = {
  name: "run",
  configure: (program) => {
    program
      .argument("<file>", "a config, or a verl, TRL or OpenRLHF one")
      .option("--set <path=value>", "override a value of the config; may be repeated", collect, [])
      .option("--steps <n>", "run at most this many rl steps", positive)
      .option("--seed <n>", "override the config's seed", whole)
      .option(
        "--dry-run",
        "run one step on two prompts in this process and keep nothing: reward timing, memory",
      )
      .option(
        "--endpoint <url>",
        "with --dry-run: sample from an OpenAI-compatible server instead, e.g. http://localhost:8000/v1",
      )
      .option("--model <name>", "with --endpoint: the model's name there; default: the first that it lists")
      .option("--prompts <n>", "with --endpoint: how many prompts", positive, 64)
      .option(
        "--site <site>",
        "train elsewhere, by the trainer that `engine.use` names: a file of `sites/`, a host of ssh, or `here`",
      )
      .option("--store <folder>", "the store, or a folder in its workspace; default: the file's")
      .option("--json", "one JSON object per line")
      .action(async (given: string, options: Options) => {
        const { endpoint } = options;
        if (endpoint !== undefined && options.dryRun !== true)
          program.error("error: --endpoint needs --dry-run", { exitCode: exit.usage });
        if (isQuiet(options) && (await inQuietChild())) return;
        const file = resolve(given);
        if (endpoint !== undefined) {
          const served = checked(file, { ...options, set: ["model.base=tiny", ...options.set] });
          return served && rehearseServed(served, endpoint, options);
        }
        const config = checked(file, options);
        if (config === undefined) return;
        const store = storeOf(options.store, file);
        const plan = planOf(config, options);
        if (plan !== undefined && options.dryRun === true) return dryRunSweep(plan, options.json);
        if (!isHere(options) || config.engine.use !== "embedded") return runElsewhere(config, store, options);
        if (options.dryRun === true) return takeStep(config, options.json);
        await loaded(config);
        await warnOfTests(config, file);
        return plan === undefined ? startAndFollow(file, store, options) : runSweep(plan, store, options);
      });
  },
};
