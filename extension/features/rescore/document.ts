/** The rollouts that an edit changes most, as two texts that a diff editor lays side by side; and a sweep as a table. Pure. */
import { formatCount, formatFraction, formatNumber, plural } from "../../../shared/lib/format.ts";
import type { BeforeNow, ChangedRollout, Rescored, Sweep } from "../../../shared/rollouts/rescore.ts";
import { blocksOf, coverage, stillText, sweptText } from "../../../shared/rollouts/rescoreText.ts";
import { fromWire } from "../../../shared/rollouts/rollouts.ts";

export type Side = "before" | "now";

const number = (values: BeforeNow, side: Side): string => formatNumber(fromWire(values[side]));

/** Equal lines on both sides, but for the numbers that change. */
export function changedText(rescored: Rescored | null, side: Side): string {
  if (rescored === null)
    return "No run of this config has recorded rollouts yet, or the config has errors.\n";
  const { change, most, notes } = rescored;
  return [
    coverage(rescored),
    `in ${plural(change.groups, "group")}`,
    "",
    `reward  ${number(change.mean, side)}`,
    ...change.terms.map((term) => `  ${term.term}  ${number(term, side)}`),
    ...(most.length === 0 ? ["", "No rollout's reward or advantage changes."] : []),
    ...most.flatMap((rollout) => ["", ...rolloutLines(rollout, side)]),
    ...(notes.length === 0 ? [] : ["", ...notes]),
    "",
  ].join("\n");
}

function rolloutLines(rollout: ChangedRollout, side: Side): string[] {
  const { step, group, index, arm, prompt, response, advantage, reward, terms, errors } = rollout;
  return [
    `■ step ${step} · ${group} #${index}${arm === "" ? "" : ` · ${arm}`}`,
    `  advantage  ${number(advantage, side)}`,
    `  reward     ${number(reward, side)}`,
    ...terms.map((term) => `    ${term.term}  ${number(term, side)}`),
    ...(side === "now"
      ? Object.entries(errors).map(([term, message]) => `    ${term} failed: ${message.replace(/\s+/g, " ")}`)
      : []),
    ...lines("  ? ", prompt),
    ...lines("  │ ", response),
  ];
}

const lines = (margin: string, text: string): string[] =>
  text === "" ? [`${margin}(empty)`] : text.split(/\r\n|\r|\n/).map((line) => margin + line);

/** One row a weight: the term's share as a bar, then what flips. */
export function sweepTable(sweep: Sweep | null, term: string): string {
  if (sweep === null) return `No run of this config has recorded rollouts with a value of \`${term}\`.\n`;
  const { run, points, weight, rollouts, signed, pairs, notes } = sweep;
  const title = `The weight of ${sweep.term}, over ${plural(rollouts, "rollout")} of run ${run}, ${sweptText(sweep)}`;
  const still = stillText(sweep);
  if (still !== undefined) return [title, "", still, ...notes, ""].join("\n");
  const flips = points.map(({ signFlips }) => (signed === 0 ? 0 : signFlips / signed));
  const most = Math.max(...flips, Number.MIN_VALUE);
  const rows = points.map((point, index) =>
    [
      `${point.weight === weight ? "▶" : " "} ${formatNumber(point.weight).padStart(8)}`,
      `${bar(point.share)} ${formatFraction(point.share).padStart(6)}`,
      `${bar(flips[index]! / most)} ${String(point.signFlips).padStart(6)}`,
      String(point.rankFlips).padStart(8),
      `+${point.gained} −${point.lost}`.padStart(9),
    ].join("  "),
  );
  return [
    title,
    `▶ is the config's current weight. Flips are relative to the recorded rewards: of ${plural(signed, "advantage")} and ${plural(pairs, "pair")} of siblings.`,
    "",
    `share of the spread  ${blocksOf(points.map(({ share }) => share))}`,
    `signs flipped        ${blocksOf(flips.map((part) => part / most))}`,
    "",
    "    weight  share of the spread within groups  signs flipped                     ranks     groups",
    ...rows,
    ...(notes.length === 0 ? [] : ["", ...notes]),
    "",
  ].join("\n");
}

const width = 24;
const bar = (part: number): string => {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * width);
  return "█".repeat(filled) + "·".repeat(width - filled);
};

/** "gold 0 of 64". */
export const goldText = ({ rewarded, of }: { readonly rewarded: number; readonly of: number }): string =>
  `gold ${formatCount(rewarded)} of ${formatCount(of)}`;

/** A notebook as its file would be, without outputs. @param cells `kind` as the editor numbers it: 2 is code */
export const notebookText = (cells: readonly { readonly kind: number; readonly text: string }[]): string =>
  JSON.stringify({
    cells: cells.map(({ kind, text }) => ({
      cell_type: kind === 2 ? "code" : "markdown",
      metadata: {},
      source: text,
      ...(kind === 2 && { outputs: [], execution_count: null }),
    })),
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  });

/** How a trainer's configuration names the function of a reward's file: verl's key, TRL's list. */
const trainerNames = [
  /custom_reward_function\.name=["']?([A-Za-z_]\w*)/,
  /custom_reward_function:[^#]*?\bname:\s*["']?([A-Za-z_]\w*)/,
  /reward_funcs\s*[=:]\s*\[?\s*["']?([A-Za-z_]\w*)/,
] as const;

/** Whether a text that names a reward's file may be a trainer's configuration. */
export const isTrainerText = (text: string): boolean =>
  /custom_reward_function|reward_funcs|remote_rm_url|\bverl\.|GRPOConfig|GRPOTrainer|openrlhf/.test(text);

/** Where a Python function's result can be shown: the line of the one that a config names after the file's name. */
export function pythonLine(text: string, file: string, config: string): number | undefined {
  const after = config.split(`${file}:`)[1] ?? "";
  const named = trainerNames.map((pattern) => pattern.exec(config)?.[1]).find((name) => name !== undefined);
  const name = /^[A-Za-z_]\w*/.exec(after)?.[0] ?? named ?? "compute_score";
  return definedLine(text, name);
}

/** The line that defines a function or gives it its name, in Python or JavaScript. @param name a word */
export function definedLine(text: string, name: string): number | undefined {
  const word = name.replaceAll("$", "\\$");
  const own = new RegExp(
    `^(?:export\\s+)?(?:default\\s+)?(?:async\\s+)?(?:(?:def|function|const)\\s+${word}(?![\\w$])|${word}\\s*=(?!=))`,
  );
  const found = text.split("\n").findIndex((line) => own.test(line));
  return found < 0 ? undefined : found;
}

/** Where a function's result can be shown: the line that exports it. */
export function exportLine(text: string): number | undefined {
  const found = text
    .split("\n")
    .findIndex((line) => /^\s*export\s+(default\s+)?(async\s+)?(function\b|const\s+\w+\s*[:=])/.test(line));
  return found < 0 ? undefined : found;
}

/** The line of a reward's function as a config names it. @param file its path */
export const functionLine = (text: string, file: string, config: string): number | undefined =>
  file.endsWith(".py") ? pythonLine(text, file.split(/[\\/]/).at(-1) ?? file, config) : exportLine(text);
