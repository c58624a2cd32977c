import { randomStream } from "../lib/random.ts";
import { readRollouts } from "../analysis/recorded.ts";
import { rescore, type Rescored, type RescoredSummary } from "../analysis/rescore/rescore.ts";
import { formatFraction } from "../../shared/lib/format.ts";
import type { WireNumber } from "../../shared/rollouts/rollouts.ts";
import { visibleText } from "../../shared/lib/visibleText.ts";
import { print, printJson, type Command } from "./command.ts";
import { collect } from "./text/diagnostics.ts";
import { loadOrComplain } from "./loadOrComplain.ts";

interface Options {
  readonly rollouts: string;
  readonly set: string[];
  readonly json?: boolean;
}

const short = (value: WireNumber | null): string =>
  value === null ? "–" : typeof value === "string" ? value : String(Number(value.toPrecision(5)));

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? "" : "s"}`;

/** "0.5 → 0.625 (+0.125)", the recorded mean first. */
function moved(before: WireNumber | null, now: WireNumber | null): string {
  if (typeof before !== "number" || typeof now !== "number") return `${short(before)} → ${short(now)}`;
  const change = now - before;
  return `${short(before)} → ${short(now)} (${change < 0 ? "−" : "+"}${short(Math.abs(change))})`;
}

/** A few of the groups by name: a long list says less than its number. */
const few = (names: readonly string[]): string =>
  names.length === 0 ? "" : ` (${visibleText(names.slice(0, 5).join(", "))}${names.length > 5 ? ", …" : ""})`;

function printSummary({ rollouts, terms, total, groups }: RescoredSummary): void {
  print(`\n${count(rollouts, "rollout")} in ${count(groups.total, "group")}, means recorded → now`);
  print(
    `  reward: ${moved(total.before, total.mean)}; ${total.changed} changed, ${count(total.flips, "sign flip")}, ${count(total.errors, "error")}`,
  );
  for (const [name, { mean, before, errors, changed, criteria = {} }] of Object.entries(terms)) {
    print(`  ${visibleText(name)}: ${moved(before, mean)}; ${changed} changed, ${count(errors, "error")}`);
    for (const [criterion, { met, before: was, gained, lost }] of Object.entries(criteria))
      print(
        `    ${visibleText(criterion)}: met ${formatFraction(met)}, was ${formatFraction(was)}; ${gained} gained, ${lost} lost`,
      );
  }
  print(
    `  groups whose rewards differ now but did not before (signal gained): ${groups.gained.length}${few(groups.gained)}`,
  );
  print(
    `  groups whose rewards differed before but do not now (signal lost): ${groups.lost.length}${few(groups.lost)}`,
  );
}

function text(scored: Rescored): void {
  if (scored.type === "summary") {
    printSummary(scored);
    return;
  }
  const { step, group, index, rewards, errors, reward, before } = scored;
  const terms = Object.entries(rewards)
    .map(([name, value]) => `${name} ${short(value)}`)
    .join("  ");
  print(`${step}/${visibleText(group)} #${index}  reward ${short(reward)} (was ${short(before)})  ${terms}`);
  for (const [name, message] of Object.entries(errors)) print(`  ${visibleText(`${name}: ${message}`)}`);
}

async function run(file: string, { rollouts, set, json }: Options): Promise<void> {
  const config = loadOrComplain(file, set);
  if (config === undefined) return;
  for await (const scored of rescore(
    config,
    await readRollouts(rollouts),
    randomStream(config.seed, "rescore"),
  )) {
    if (json === true) printJson(scored);
    else text(scored);
  }
}

export const command: Command = {
  name: "reward",
  configure: (program) => {
    program
      .argument("<file>", "the config")
      .requiredOption("--rollouts <file>", "recorded rollouts, one JSON object per line")
      .option("--set <path=value>", "overrides a value of the config", collect, [])
      .option("--json", "one JSON object per line")
      .action((file: string, options: Options) => run(file, options));
  },
};
