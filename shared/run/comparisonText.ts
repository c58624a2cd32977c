/** A comparison in words: the same sentences in a terminal and in a panel. */
import { formatNumber } from "../lib/format.ts";
import type {
  ComparedGroup,
  ComparedSeries,
  Comparison,
  ConfigDifference,
  HeldOutDifference,
} from "./comparison.ts";
import type { Json } from "../lib/json.ts";

/** A, B, …, Z, AA: what a group is called in tables. */
export function groupLetter(group: number): string {
  const letter = String.fromCharCode(65 + (group % 26));
  return group < 26 ? letter : groupLetter(Math.floor(group / 26) - 1) + letter;
}

/** +3.2, −1.0, 0.0: hundredths of the tasks. */
function points(share: number): string {
  const text = Math.abs(share * 100).toFixed(1);
  return Number(text) === 0 ? text : `${share < 0 ? "−" : "+"}${text}`;
}
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** "B solves more held-out tasks than A: pass@1 21.0 % → 24.2 %, +3.2 points [+1.1, +5.4], 512 tasks, paired." */
export function heldOutSentence(found: HeldOutDifference): string {
  const { metric, group, low, high } = found;
  const name = metric.slice("eval/".length);
  const [own, base] = [groupLetter(group), groupLetter(0)];
  const judged =
    low > 0
      ? `${own} solves more held-out tasks than ${base}`
      : high < 0
        ? `${own} solves fewer held-out tasks than ${base}`
        : `No difference of ${own} to ${base} is shown`;
  return `${judged}: ${name} ${changeText(found)}.`;
}

/** "21.0 % → 24.2 %, +3.2 points [+1.1, +5.4], 512 tasks, paired": in brackets the interval of 95 %. */
function changeText({
  before,
  after,
  difference,
  low,
  high,
  tasks,
  method,
  reason,
}: HeldOutDifference): string {
  const how = reason === null ? method : `${method}: ${reason}`;
  return `${percent(before)} → ${percent(after)}, ${points(difference)} points [${points(low)}, ${points(high)}], ${tasks} tasks, ${how}`;
}

/** "1, 2, 5", but "1 to 25" where none is left out. */
function seedsText(seeds: readonly number[]): string {
  const sorted = [...seeds].sort((one, other) => one - other);
  const whole = sorted.every((seed, i) => seed === sorted[0]! + i);
  return seeds.length > 3 && whole ? `${sorted[0]} to ${sorted.at(-1)}` : seeds.join(", ");
}

/** "3 runs, seeds 1, 2, 3". */
export function groupText({ runs }: ComparedGroup, all: Comparison["runs"]): string {
  const seeds = [...new Set(runs.flatMap((at) => all[at]?.seed ?? []))];
  const said = seeds.length === 0 ? "" : `, ${seeds.length === 1 ? "seed" : "seeds"} ${seedsText(seeds)}`;
  return `${runs.length === 1 ? "1 run" : `${runs.length} runs`}${said}`;
}

/** A value of a config on one line, cut where it is long. */
export function configValueText(value: Json | undefined, most = 60): string {
  const text = flow(value);
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** What a run's config has at a key. */
export const configCellText = ({ value, by }: ConfigDifference["values"][number], most: number): string =>
  value !== undefined ? configValueText(value, most) : by === "unknown" ? "not known" : "not there";

/** As YAML writes it on one line, numbers as people do: 3e-6. */
function flow(value: Json | undefined): string {
  if (value === undefined) return "–";
  if (typeof value === "number") return plainNumber(value);
  if (typeof value === "string") return /^[\w./@-]+$/.test(value) ? value : JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (isList(value)) return `[${value.map(flow).join(", ")}]`;
  return `{ ${Object.entries(value)
    .map(([key, own]) => `${key}: ${flow(own)}`)
    .join(", ")} }`;
}
const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** 0.04, 100000, but 3e-6. */
export function plainNumber(value: number): string {
  const size = Math.abs(value);
  return value !== 0 && (size < 1e-3 || size >= 1e6)
    ? value.toExponential().replace("e+", "e")
    : String(value);
}

/** The last step that a series has of each group: "0.412 ± 0.03 (n 3)". */
export function lastText({ mean, error, n }: ComparedSeries["groups"][number]): string {
  const at = mean.findLastIndex((value) => value !== null);
  const [value, width] = [mean[at], error[at]];
  if (value === null || value === undefined) return "–";
  return `${formatNumber(value)}${width === null || width === undefined ? "" : ` ± ${formatNumber(width)}`}${(n[at] ?? 0) > 1 ? ` (n ${n[at]})` : ""}`;
}
