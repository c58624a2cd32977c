/** What the page that compares runs shows, out of a comparison: charts, rows of differences, the order of runs. Pure. */
import { metricNamed } from "../../shared/metrics/metrics.ts";
import type { ComparedSeries, Comparison, GroupSeries, WrittenBy } from "../../shared/run/comparison.ts";
import { configCellText, groupLetter } from "../../shared/run/comparisonText.ts";
import type { ChartLine, ChartModel, Format } from "../shared/chartModel.ts";
import type { PlotValue } from "../shared/columns.ts";
import { leadingGroups, styleOf } from "./leading.ts";

const formats: Readonly<Record<string, Format>> = {
  fraction: "fraction",
  tokens: "tokens",
  seconds: "seconds",
  bytes: "bytes",
};
const formatOf = (metric: string): Format =>
  metric.startsWith("eval/") ? "fraction" : (formats[metricNamed(metric)?.unit ?? ""] ?? "number");

/** "A sums (n 3)". */
export const groupName = ({ groups }: Comparison, group: number): string => {
  const { label, runs } = groups[group]!;
  return `${groupLetter(group)} ${label}${runs.length > 1 ? ` (n ${runs.length})` : ""}`;
};

/** The last step that all groups have recorded: where values can be set next to each other; null: there is none. */
export function lastCommon({ series }: Comparison): number | null {
  const ends = series.flatMap(({ groups }) => groups.map(({ steps }) => steps.at(-1) ?? -1));
  const end = Math.min(...ends);
  return Number.isFinite(end) && end >= 0 ? end : null;
}

export function chartOf(found: Comparison, { metric, groups }: ComparedSeries): ChartModel {
  const leading = leadingGroups(found);
  const steps = [...new Set(groups.flatMap((group) => group.steps))].sort((one, other) => one - other);
  // Said once: it is the same for all.
  const [banded] = groups.filter((group) => isSeveral(group) && leading.includes(group.group));
  const bandNames = new Map(banded === undefined ? [] : [[banded, "± standard error"]]);
  const begins = groups.find((group) => group.begins !== undefined) && beginsAt(groups, steps);
  return {
    steps,
    ...(begins === undefined ? {} : { begins }),
    // What is in grey lies below what is told apart.
    lines: [...groups]
      .sort((one, other) => leading.indexOf(one.group) - leading.indexOf(other.group))
      .map((group) =>
        lineOf(found, group, {
          steps,
          format: formatOf(metric),
          bandName: bandNames.get(group) ?? "",
          style: styleOf(leading, group.group),
        }),
      ),
    limits: null,
    empty: steps.length === 0 ? "None of these runs has recorded it." : null,
  };
}

function beginsAt(groups: readonly GroupSeries[], steps: readonly number[]): readonly number[] {
  const known = new Map(
    groups.flatMap(({ steps: own, begins = own }) =>
      own.map((step, at): [number, number] => [step, begins[at]!]),
    ),
  );
  return steps.map((step) => known.get(step) ?? step);
}

const isSeveral = ({ n }: GroupSeries): boolean => n.some((runs) => runs > 1);

interface LineOptions {
  readonly steps: readonly number[];
  readonly format: Format;
  readonly bandName: string;
  readonly style: ReturnType<typeof styleOf>;
}

/** The mean of a group, with its standard error around it where there are several seeds. */
function lineOf(
  found: Comparison,
  group: GroupSeries,
  { steps, format, bandName, style }: LineOptions,
): ChartLine {
  const places = new Map(group.steps.map((step, at) => [step, at]));
  // What another group has recorded in between is passed over; a value that is no number breaks the line.
  const column = (value: (at: number) => number | null): PlotValue[] =>
    steps.map((step) => {
      const at = places.get(step);
      return at === undefined ? null : (value(at) ?? Number.NaN);
    });
  const mean = column((at) => group.mean[at] ?? null);
  const edge = (way: number): PlotValue[] =>
    column((at) => {
      const [value, error] = [group.mean[at], group.error[at]];
      return typeof value === "number" ? value + way * (error ?? 0) : null;
    });
  return {
    name: groupName(found, group.group),
    values: mean,
    raw: mean,
    style: group.steps.length < 12 && steps.length > 3 * group.steps.length ? "points" : "line",
    ...(style ?? { tone: "faint", dash: 0, aside: true }),
    format,
    axis: "left",
    ...(isSeveral(group) && style !== null ? { band: { name: bandName, low: edge(-1), high: edge(1) } } : {}),
  };
}

export interface DifferenceRow {
  readonly kind: "source" | "config";
  readonly name: string;
  /** Of a source: which. */
  readonly about: string;
  /** What the groups have, each value once, with the letters of the groups or the runs that have it. */
  readonly values: readonly { readonly who: string; readonly text: string; readonly note: string }[];
  /** Two runs that differ in it, the first being the first of all. */
  readonly runs: readonly [string, string];
}

const notes: Readonly<Record<WrittenBy, string>> = {
  file: "",
  set: "--set",
  default: "default",
  unknown: "",
};

const notKept = "not kept";

/** Sources first. */
export function differenceRows(found: Comparison): readonly DifferenceRow[] {
  return [
    ...found.sources.map(({ kind, name, values }) =>
      rowOf(
        found,
        { kind: "source", name, about: kind },
        values.map((value) => ({ text: value ?? notKept, note: "" })),
      ),
    ),
    ...found.config.map(({ path, values }) =>
      rowOf(
        found,
        { kind: "config", name: path, about: "" },
        values.map((cell) => ({
          text: configCellText(cell, 200),
          note: cell.value === undefined ? "" : notes[cell.by],
        })),
      ),
    ),
  ];
}

/** "A B", but of many how many they are. */
const whoText = (who: readonly string[], groups: boolean): string =>
  who.length > mostNamed ? `${who.length} ${groups ? "groups" : "runs"}` : who.join(" ");
const mostNamed = 8;

function rowOf(
  { runs, groups }: Comparison,
  about: Pick<DifferenceRow, "kind" | "name" | "about">,
  values: readonly { readonly text: string; readonly note: string }[],
): DifferenceRow {
  const said = values.map(({ text, note }) => JSON.stringify([text, note]));
  const alike = groups.every((group) => new Set(group.runs.map((at) => said[at])).size === 1);
  const holders = alike
    ? groups.map((group, at) => ({ who: groupLetter(at), run: group.runs[0]! }))
    : runs.map(({ id, seed }, run) => ({
        who: seed === null ? id : `${groupLetter(runs[run]!.group)} seed ${seed}`,
        run,
      }));
  const byValue = new Map<string, { who: string[]; run: number }>();
  for (const { who, run } of holders) {
    const known = byValue.get(said[run]!) ?? { who: [], run };
    byValue.set(said[run]!, { who: [...known.who, who], run: known.run });
  }
  // A run that kept nothing has nothing to open.
  const shown = said.flatMap((one, run) => (values[run]!.text === notKept ? [] : [{ one, run }]));
  const [first = { one: said[0], run: 0 }] = shown;
  const other = shown.find(({ one }) => one !== first.one) ?? first;
  return {
    ...about,
    values: [...byValue.values()].map(({ who, run }) => ({ who: whoText(who, alike), ...values[run]! })),
    runs: [runs[first.run]!.id, runs[other.run]!.id],
  };
}

/** Ids of all runs, those of a group first: what the others are compared with. */
export function ledBy({ runs, groups }: Comparison, group: number): readonly string[] {
  const first = groups[group]?.runs ?? [];
  return [...first, ...runs.map((_, at) => at).filter((at) => !first.includes(at))].map((at) => runs[at]!.id);
}
