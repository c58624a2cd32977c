import { needs } from "../config/needs.ts";
import { Explanation, type Explained, type ExplainedRollout } from "../analysis/explain/explain.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { parseWhich, why } from "../analysis/explain/why.ts";
import type { RecordedRow } from "../analysis/recorded.ts";
import type { WireNumber } from "../../shared/rollouts/rollouts.ts";
import { visibleText } from "../../shared/lib/visibleText.ts";
import { print, printJson, type Command } from "./command.ts";
import { collect } from "./text/diagnostics.ts";
import { loadOrComplain } from "./loadOrComplain.ts";
import { whole } from "./options.ts";
import { rolloutsOf, withRollouts } from "./rolloutsOf.ts";
import { whyText } from "./text/whyText.ts";

interface Options {
  readonly rollouts: string;
  readonly set: string[];
  readonly json?: boolean;
  readonly why?: string;
  readonly step?: number;
  readonly store?: string;
}

/** Below this an advantage, or what is computed of one, is 0 but for rounding. */
const nothing = 1e-12;
const short = (value: WireNumber | null | undefined): string =>
  value === null || value === undefined
    ? "–"
    : typeof value === "string"
      ? value
      : String(Math.abs(value) < nothing ? 0 : Number(value.toPrecision(5)));
const mean = (values: readonly WireNumber[], weights: readonly WireNumber[]): number | undefined => {
  const kept = values.filter((_, i) => weights[i] !== 0).map(Number);
  return kept.length === 0 ? undefined : kept.reduce((sum, value) => sum + value, 0) / kept.length;
};

function line({
  group,
  index,
  reward,
  advantages,
  weights,
  advantage = mean(advantages, weights),
  grad_logp,
}: ExplainedRollout): string {
  const trained = weights.filter((weight) => weight !== 0).length;
  const pull =
    grad_logp === undefined
      ? ""
      : `  Σ∂L/∂logp ${short(grad_logp.reduce<number>((sum, value) => sum + Number(value), 0))}`;
  return `  ${visibleText(group)} #${index}  reward ${short(reward)}  advantage ${short(advantage)}  tokens ${trained}/${weights.length}${pull}`;
}

function text(explained: Explained, started: Set<number>): void {
  if (!started.has(explained.step)) {
    started.add(explained.step);
    print(`step ${explained.step}`);
  }
  if (explained.type === "rollout") {
    print(line(explained));
    return;
  }
  print(
    explained.loss === undefined
      ? "  advantages only: the log-probs that the loss needs (logp_new) were not recorded"
      : `  loss ${short(explained.loss)}`,
  );
  for (const [name, value] of Object.entries(explained.metrics))
    print(`  ${visibleText(name)} ${short(value)}`);
}

function printWhy(config: RunConfig, rows: readonly RecordedRow[], wanted: string, json: boolean): void {
  const explanation = why(config, rows, parseWhich(wanted));
  if (json) printJson(explanation);
  else print(whyText(explanation, process.stdout.columns > 0 ? process.stdout.columns : 80).join("\n"));
}

async function run(file: string, { rollouts, set, json, why: wanted, ...part }: Options): Promise<void> {
  const config = loadOrComplain(file, { set, recorded: true, needs: needs.explained });
  if (config === undefined) return;
  if (wanted !== undefined) {
    const { step = part.step } = parseWhich(wanted);
    const rows = await rolloutsOf(rollouts, config, { ...part, step, last: true });
    return printWhy(config, rows, wanted, json === true);
  }
  const started = new Set<number>();
  const explanation = new Explanation(config);
  await withRollouts(rollouts, config, part, (rows) => {
    for (const explained of explanation.of(rows)) {
      if (json === true) printJson(explained);
      else text(explained, started);
    }
  });
}

export const command: Command = {
  name: "explain",
  configure: (program) => {
    program
      .argument("<file>", "the config, or a verl, TRL or OpenRLHF one")
      .requiredOption(
        "--rollouts <file|run>",
        "recorded rollouts, one JSON object per line; or a run by its id, its name, or `last`",
      )
      .option(
        "--why <rollout>",
        "explain in words why GROUP#INDEX (or STEP/GROUP#INDEX) has its advantage; GROUP is its name, or its number in the step, from 0; of a run without STEP: in its last step",
      )
      .option("--step <n>", "of a run: only this step", whole(0))
      .option("--store <folder>", "the store of a run, or a folder in its workspace")
      .option("--set <path=value>", "overrides a value of the config", collect, [])
      .option("--json", "one JSON object per line")
      .action((file: string, options: Options) => run(file, options));
  },
};
