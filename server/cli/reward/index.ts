import { resolve } from "node:path";
import { needs, type Part } from "../../config/needs.ts";
import { randomStream } from "../../lib/random.ts";
import type { Command as Program } from "commander";
import { repeated, whole } from "../options.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { Rescoring, type Rescored } from "../../analysis/rescore/rescore.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { complain, exit, print, printJson, type Command } from "../command.ts";
import { collect, formatted, pathText } from "../text/diagnostics.ts";
import { ChangedRollouts, rolloutLines, summaryLines } from "./rescoredText.ts";
import { loadedOrComplain, triedOrComplain } from "../loadOrComplain.ts";
import { checked, type CheckOptions } from "./checks.ts";
import { candidateSetting, nameOf } from "./candidates.ts";
import { preferenceLines } from "./preferenceText.ts";
import { printCoverage } from "./coverage.ts";
import { serveUntilStopped } from "./serve.ts";
import { withRollouts } from "../rolloutsOf.ts";

interface Options extends CheckOptions {
  readonly coverage?: boolean;
  readonly candidate: readonly string[];
  readonly all?: boolean;
  readonly serve?: boolean;
  readonly port: number;
  readonly key?: string;
  readonly set: string[];
}

async function rescored(config: RunConfig, rollouts: string, options: Options): Promise<void> {
  const { step, store, json, all } = options;
  const changed = new ChangedRollouts();
  const say = (scored: Rescored): void => {
    if (json === true) printJson(scored);
    else if (scored.type === "summary")
      for (const line of [...changed.lines, ...summaryLines(scored), ...preferenceLines(scored.preference)])
        print(line);
    else if (all === true) for (const line of rolloutLines(scored)) print(line);
    else changed.add(scored);
  };
  const tried = new Set(options.candidate.map(nameOf));
  const rescoring = new Rescoring(config, randomStream(config.seed, "rescore"), tried);
  try {
    // A run's rollouts come step by step: all of a long run do not fit in memory.
    await withRollouts(rollouts, config, { step, store }, async (rows) => {
      for await (const scored of rescoring.rollouts(rows)) say(scored);
    });
    const { summary } = rescoring;
    say(summary);
    for (const note of rescoring.notes) complain(note);
    if (rescoring.lacks) process.exitCode = exit.failed;
    const { successes, rewards } = summary.preference;
    if (tried.size > 0 && rewards.length === 0)
      complain(
        `no candidate can be ranked: ${successes === 0 ? "no rollout succeeds" : "every rollout succeeds"}. Name rollouts of which some succeed and some fail.`,
      );
    // A term that fails wherever it is asked is broken: whatever else was found is no success.
    for (const [term, { asked, errors }] of Object.entries(summary.terms)) {
      if (asked === 0 || errors < asked) continue;
      complain(visibleText(`\`${term}\` failed on all ${asked} rollouts`));
      process.exitCode = exit.failed;
    }
  } finally {
    await rescoring.close();
  }
}

/** What needs nothing but the file is tried where nothing is named. */
const orAll = (options: Options): Options =>
  (options.rollouts ?? options.gold ?? options.probe ?? options.attack ?? options.serve) === undefined
    ? { ...options, gold: true, probe: true }
    : options;

async function run(file: string, given: Options, program: Program): Promise<void> {
  if (given.rollouts === undefined && given.coverage === true)
    program.error("error: --coverage needs --rollouts", { exitCode: exit.usage });
  const options = orAll(given);
  const { rollouts, gold: asksGold, probe: asksProbe, candidate } = options;
  const draws = asksGold === true || asksProbe === true || options.attack === true;
  if (rollouts === undefined && candidate.length > 0)
    program.error("error: --candidate needs --rollouts", { exitCode: exit.usage });
  if (options.endpoint !== undefined && options.attack !== true)
    program.error("error: --endpoint needs --attack", { exitCode: exit.usage });
  const set = [...options.set, ...candidate.map((reward) => candidateSetting(reward, process.cwd()))];
  const asked = { set, needs: needsOf(options) };
  const loaded = draws ? await triedOrComplain(file, asked) : loadedOrComplain(file, asked);
  if (loaded === undefined) return;
  const { config, converted, diagnostics, untried, notes } = { untried: undefined, notes: [], ...loaded };
  // What a trainer recorded lacks columns of its data.
  if (!draws && converted !== undefined)
    for (const missing of diagnostics.filter(({ rule }) => rule === "dataset-file"))
      complain(formatted(missing));
  if (options.serve === true) {
    await serveUntilStopped(config, options);
    return;
  }
  if (rollouts !== undefined && options.coverage === true)
    await printCoverage(config, rollouts, options, options.json === true);
  else if (rollouts !== undefined && asksProbe !== true) await rescored(config, rollouts, options);
  for (const note of [...notes, ...(untried === undefined ? [] : [untried])])
    if (options.json === true) printJson({ type: "note", note });
    else complain(visibleText(`${pathText(resolve(file))}: ${note}`));
  if (untried === undefined) await checked(config, options);
  else process.exitCode = exit.failed;
}

function needsOf({ serve, gold, probe, attack }: Options): readonly Part[] {
  if (serve === true) return needs.served;
  return gold === true || probe === true || attack === true ? needs.tried : needs.scored;
}

export const command: Command = {
  name: "reward",
  configure: (program) => {
    program
      .argument("<file>", "the config, or a verl, TRL or OpenRLHF one")
      .option(
        "--rollouts <file>",
        "recorded rollouts: a file with one JSON object per line, `last`, or a run",
      )
      .option("--all", "with --rollouts: print every rollout, not only those that changed most")
      .option("--coverage", "of these rollouts: which lines and branches of the reward they reach")
      .option(
        "--candidate <reward>",
        "with --rollouts: another reward, a file or a method, to rank next to the config's; may be repeated",
        repeated,
        [],
      )
      .option("--step <n>", "of a run: only this step", whole(0))
      .option("--store <folder>", "the store of a run, or a folder in its workspace")
      .option("--gold", "score every row's own reference answer; with none of these options: --gold --probe")
      .option(
        "--probe",
        "score answers that should earn nothing: empty, filler, wrong, evasive; with --rollouts also changed ones of those",
      )
      .option(
        "--attack",
        "train a policy to please the reward without the answers; what it finds becomes a failing test",
      )
      .option("--serve", "serve the reward on this machine in OpenRLHF's protocol, until it is stopped")
      .option("--port <n>", "with --serve: the port; default: one that is free", whole(0), 0)
      .option("--key <variable>", "with --serve: environment variable with a token that requests must send")
      .option("--seconds <n>", "how long --attack may take", whole(1), 60)
      .option(
        "--endpoint <url>",
        "with --attack: an OpenAI-compatible server, whose model attacks in the place of the tiny policy",
      )
      .option("--model <name>", "with --endpoint: the model; default: the first that it serves")
      .option("--tries <n>", "with --endpoint: how many texts the model may try", whole(1), 200)
      .option("--set <path=value>", "overrides a value of the config", collect, [])
      .option("--json", "one JSON object per line")
      .action((file: string, options: Options) => run(file, options, program));
  },
};
