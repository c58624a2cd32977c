/** Runs next to each other as text that fits 80 columns: sources first, then configs, then how they went. Pure. */
import type { ComparedSeries, Comparison, WrittenBy } from "../../../shared/run/comparison.ts";
import {
  configCellText,
  groupLetter,
  groupText,
  heldOutSentence,
  lastText,
} from "../../../shared/run/comparisonText.ts";
import { colours } from "./colours.ts";
import { tableLines } from "./table.ts";
import { sparkline } from "../../../shared/lib/sparkline.ts";
import { thinned, wrapped } from "./terminal.ts";

const curve = 24;
/** Of a value in a table of differences. */
const cellWidth = 24;

export function comparisonLines(found: Comparison, width: number): string[] {
  const { runs, groups, notes } = found;
  const members = groups.map(({ runs: own }) => own.map((at) => runs[at]!.id).join(", "));
  const parts: readonly (readonly [string, readonly string[]])[] = [
    [
      "",
      groups.flatMap((group, at) => [
        `${letter(at)}  ${group.label}  (${groupText(group, runs)})`,
        `   ${members[at]}`,
      ]),
    ],
    ["Sources differ", sources(found)],
    ["Configs differ", config(found)],
    [
      "Held-out, at the last evaluations, with 95 % intervals over the tasks",
      found.heldOut.map(heldOutSentence),
    ],
    ["pass@1 by arm", arms(found)],
    ["Last step, mean ± standard error over seeds", found.series.flatMap(course)],
    ["", notes.map((note) => `Note: ${note}`)],
  ];
  const same = found.sources.length + found.config.length === 0 && runs.length > 1;
  return parts
    .filter(([, lines]) => lines.length > 0)
    .flatMap(([head, lines], at) => [
      ...(at === 0 ? [] : [""]),
      ...(head === "" ? [] : [colours.bold(head)]),
      ...lines.map((line) => wrapped(head === "" ? line : `  ${line}`, width, 4)),
    ])
    .concat(same ? ["", "Nothing differs but the seed and the name."] : []);
}

const letter = (group: number): string => colours.bold(groupLetter(group));

/** Each value with the groups that have it; where a group's runs differ, with the runs. */
function holders(found: Comparison, values: readonly string[]): string[][] {
  const { groups } = found;
  const alike = groups.every(({ runs }) => new Set(runs.map((at) => values[at])).size === 1);
  const names = alike
    ? groups.map(({ runs }, at) => [groupLetter(at), values[runs[0]!]!] as const)
    : found.runs.map(({ id }, at) => [id, values[at]!] as const);
  const byValue = new Map<string, string[]>();
  for (const [name, value] of names) byValue.set(value, [...(byValue.get(value) ?? []), name]);
  return [...byValue].map(([value, own]) => [own.join(" "), value]);
}

/** A key, and under it a line a value. */
const keyed = (key: string, values: readonly (readonly string[])[]): string[] => {
  const lines = tableLines([{ head: "" }, { head: "" }], values).slice(1);
  return [key, ...lines.map((line) => `  ${line}`)];
};

const sources = (found: Comparison): string[] =>
  found.sources.flatMap(({ kind, name, values }) =>
    keyed(
      kind === "package" || kind === "program" ? name : `${kind} ${name}`,
      holders(
        found,
        values.map((value) => value ?? "not kept"),
      ),
    ),
  );

const by: Readonly<Record<WrittenBy, string>> = {
  file: "",
  set: " (--set)",
  default: " (default)",
  unknown: "",
};

const config = (found: Comparison): string[] =>
  found.config.flatMap(({ path, values }) =>
    keyed(
      path,
      holders(
        found,
        values.map(
          (cell) => `${configCellText(cell, 2 * cellWidth)}${cell.value === undefined ? "" : by[cell.by]}`,
        ),
      ),
    ),
  );

function arms({ arms: found, groups }: Comparison): string[] {
  if (found.length === 0) return [];
  return tableLines(
    [{ head: "arm" }, ...groups.map((_, at) => ({ head: groupLetter(at), align: "right" as const }))],
    found.map(({ arm, values }) => [
      arm,
      ...values.map((value) => (value === null ? "–" : `${(value * 100).toFixed(1)} %`)),
    ]),
  );
}

const course = ({ metric, groups }: ComparedSeries): string[] =>
  groups.length === 0
    ? []
    : [
        metric,
        ...groups.map((group) => {
          const values = group.mean.map((value) => value ?? Number.NaN);
          return `  ${groupLetter(group.group)}  ${sparkline(thinned(values, curve), curve)}  ${lastText(group)}`;
        }),
      ];
