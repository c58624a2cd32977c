/** The table of a sweep, as text and as JSON. Pure. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import type { Json } from "../../../shared/lib/json.ts";
import { formatNumber, plural } from "../../../shared/lib/format.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { keyText, valueText } from "../../analysis/compare/label.ts";
import type { SweepRow, SweepRun } from "../../analysis/sweep/table.ts";
import type { SweepChoice } from "../../config/sweep/trials.ts";
import { colours } from "../text/colours.ts";
import { tableLines, type Column } from "../text/table.ts";

export interface SweepTable {
  readonly sweep: string;
  readonly file: string;
  readonly metric: string;
  readonly better: "max" | "min";
  readonly parameters: readonly string[];
  /** The best first. */
  readonly rows: readonly SweepRow[];
  /** Runs that the file's sweep has and that are not made. */
  readonly missing: readonly { readonly seed: number; readonly values: SweepChoice }[];
}

/** Short names of keys: those that would be the same stay whole. */
export function headsOf(keys: readonly string[]): readonly string[] {
  const short = keys.map(keyText);
  return keys.map((key, at) =>
    short.indexOf(short[at]!) === short.lastIndexOf(short[at]!) ? short[at]! : key,
  );
}

export const choiceText = (choice: SweepChoice, heads: readonly string[]): string =>
  Object.values(choice)
    .map((value, at) => `${heads[at] ?? ""} ${valueText(value)}`)
    .join(" · ");

export function sweepTableLines(table: SweepTable): string[] {
  const { sweep, metric, parameters, rows, missing } = table;
  const columns: readonly Column[] = [
    ...headsOf(parameters).map((head) => ({ head, align: "right" as const })),
    { head: `${metric} ± s.e.`, align: "right" },
    { head: "n", align: "right" },
    { head: "stopped early" },
    { head: "not counted" },
  ];
  const runs = rows.flatMap((row) => row.runs).length;
  const stopped = rows.some((row) => row.stopped > 0);
  const [head = "", ...lines] = tableLines(
    columns,
    rows.map((row) => cells(row, parameters)),
  );
  return [
    `${colours.bold(sweep)}  ${plural(runs, "run")}${missing.length === 0 ? "" : `, ${missing.length} not made yet: gradus run ${copiedWord(table.file)}`}`,
    "",
    colours.dim(head),
    ...lines,
    "",
    `Means at the last evaluations, ± standard error over n runs.${stopped ? " A run that was stopped early counts with its last one before." : ""}`,
    ...bestLines(table),
  ];
}

const cells = (row: SweepRow, parameters: readonly string[]): string[] => [
  ...parameters.map((key) => valueText(row.values[key])),
  row.mean === null ? "–" : `${row.mean.toFixed(3)}${row.error === null ? "" : ` ± ${row.error.toFixed(3)}`}`,
  String(row.n),
  stoppedText(row),
  othersText(row.runs),
];

function stoppedText({ runs, stopped }: SweepRow): string {
  if (stopped === 0) return "";
  const steps = runs.filter((run) => run.stopped).map((run) => run.steps);
  const [least, most] = [Math.min(...steps), Math.max(...steps)];
  return `${stopped} of ${runs.length}, after ${least === most ? least : `${least}–${most}`} steps`;
}

function othersText(runs: readonly SweepRun[]): string {
  const others = runs.filter(({ status, stopped }) => status !== "finished" && !stopped);
  const counts = new Map<string, number>();
  for (const { status } of others)
    counts.set(isLive(status) ? "live" : status, (counts.get(isLive(status) ? "live" : status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
}

/** How to go on with what won, and whether it did. */
function bestLines({ rows, file, sweep, parameters }: SweepTable): string[] {
  const [best, second] = rows;
  const compare = `Compare them: gradus runs compare --where 'tag == "sweep:${sweep}"'`;
  if (best === undefined || best.mean === null || parameters.length === 0) return [compare];
  const set = parameters.map((key) => ` --set ${copiedWord(`${key}=${plain(best.values[key])}`)}`).join("");
  return [
    ...closeLine(best, second),
    compare,
    `Run the best one alone: gradus run ${copiedWord(file)} --set sweep=null${set}`,
  ];
}

/** Two means that are less than two standard errors of their difference apart. */
function closeLine(best: SweepRow, second: SweepRow | undefined): string[] {
  if (best.mean === null || second === undefined || second.mean === null) return [];
  if (best.error === null || second.error === null)
    return ["Where a combination has one run, its value may be luck: more `seeds` would tell."];
  const apart = Math.abs(best.mean - second.mean);
  const error = Math.hypot(best.error, second.error);
  return apart > 2 * error
    ? []
    : [
        `The best two are ${formatNumber(apart)} apart, less than two standard errors of that (${formatNumber(2 * error)}): either may be better.`,
      ];
}

const plain = (value: Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value);
