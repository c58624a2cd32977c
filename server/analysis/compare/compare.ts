/** Runs next to each other: sources first, then configs, then how they went. Pure: what it reads is passed in. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { Series } from "../../../shared/protocol/protocol.ts";
import type {
  ComparedGroup,
  ComparedRun,
  Comparison,
  ConfigDifference,
  GroupSeries,
  WrittenBy,
} from "../../../shared/run/comparison.ts";
import type { RunSources } from "../../../shared/run/sources.ts";
import { plural } from "../../../shared/lib/format.ts";
import { randomStream } from "../../lib/random.ts";
import { segments } from "../../config/address.ts";
import { toJson } from "../../config/text/node.ts";
import { parseSource } from "../../config/text/source.ts";
import { isObject } from "../evidence/json.ts";
import { treeDifferences, writes } from "./configDifference.ts";
import { groupSeries, groupsBySeed, hasConfig, widest } from "./groups.ts";
import { armDifferences, heldOutDifferences, type Examined } from "./heldOut.ts";
import { partsText, runLabel } from "./label.ts";
import { sourceDifferences } from "./sourceDifference.ts";

/** What is compared of a run. */
export interface RunFacts extends Examined {
  readonly id: string;
  readonly name: string;
  readonly step: number;
  /** The resolved config. */
  readonly config: JsonObject;
  /** As its author wrote it. */
  readonly authored: string;
  /** `path=value` on top of it. */
  readonly set: readonly string[];
  readonly sources: RunSources | undefined;
  /** Of the metrics that are compared, each in buckets. */
  readonly series: readonly Series[];
  /** Another trainer's: its config says nothing. */
  readonly imported: boolean;
}

/**
 * @param runs at least one; the group of the first is what the others are compared with
 * @param pause between parts that take some milliseconds each, where others may have their turn
 */
export async function compareRuns(
  runs: readonly RunFacts[],
  metrics: readonly string[],
  pause?: () => Promise<unknown>,
): Promise<Comparison> {
  const groups = groupsBySeed(runs);
  const examined = groups.map((group) => group.map((at) => runs[at]!));
  const config = configDifferences(runs);
  return {
    runs: comparedRuns(runs, groups),
    groups: labelled(runs, groups, config),
    sources: sourceDifferences(runs.map(({ sources }) => sources)),
    config,
    series: metrics.map((metric) => ({ metric, groups: seriesOf(runs, groups, metric) })),
    heldOut: await heldOutDifferences(examined, randomStream(0, "compare"), pause),
    arms: armDifferences(examined),
    notes: notesOf(runs, groups),
  };
}

function comparedRuns(runs: readonly RunFacts[], groups: readonly (readonly number[])[]): ComparedRun[] {
  const first = runs[0]!;
  return runs.map((run, at) => {
    const { id, name, config, step, sources } = run;
    return {
      id,
      name,
      label: at === 0 ? name : toldFrom(first, run) || name,
      seed: typeof config["seed"] === "number" ? config["seed"] : null,
      group: groups.findIndex((group) => group.includes(at)),
      step,
      sources: sources !== undefined,
    };
  });
}

/** In a few words; empty where both say the same, or the first says nothing. */
function toldFrom(first: RunFacts, run: RunFacts, of = (config: JsonObject): JsonObject => config): string {
  if (!hasConfig(run)) return run.imported ? "" : "not started";
  return hasConfig(first) ? runLabel(of(run.config), of(first.config)) : "";
}

/** All in buckets of one width, so that lines next to each other are means of as many steps. */
function seriesOf(
  runs: readonly RunFacts[],
  groups: readonly (readonly number[])[],
  metric: string,
): GroupSeries[] {
  const ofRun = (run: number): Series[] =>
    runs[run]!.series.filter((series) => series.metric === metric && series.steps.length > 0);
  const width = widest(runs.flatMap((_, run) => ofRun(run)));
  return groups.flatMap((group, at) => {
    const own = group.flatMap(ofRun);
    const ends = own.map(({ steps }) => steps.at(-1)!);
    return own.length === 0 ? [] : [groupSeries(at, own, ends, width)];
  });
}

/** What tells each group from the first; of groups whose configs say the same, the source that differs. */
function labelled(
  runs: readonly RunFacts[],
  groups: readonly (readonly number[])[],
  differences: readonly ConfigDifference[],
): readonly ComparedGroup[] {
  const first = runs[0]!;
  const plain = groups.map(([at = 0], group) => {
    const run = runs[at]!;
    const label = group === 0 ? assigned(differences) : toldFrom(first, run, withoutSeed);
    return label || run.name;
  });
  return groups.map((group, at) => {
    const label = plain[at]!;
    const alike = plain.indexOf(label);
    const [source] =
      alike === at ? [] : sourceDifferences([groups[alike]![0]!, group[0]!].map((run) => runs[run]!.sources));
    const other = source === undefined ? "" : `other ${source.name.split("/").at(-1)}`;
    const words = label === first.name && other !== "" ? [other] : [label, other];
    return { label: words.filter((word) => word !== "").join(" · "), runs: group };
  });
}
/** What was assigned to the first run and is otherwise in some other, as in a sweep: its name tells it from none of them. */
const assigned = (differences: readonly ConfigDifference[]): string =>
  partsText(
    differences
      .filter(({ values }) => values[0]!.by === "set")
      .map(({ path, values: [own] }) => ({ path, values: [undefined, own!.value] })),
  );
const withoutSeed = ({ seed: _seed, ...rest }: JsonObject): JsonObject => rest;

function configDifferences(runs: readonly RunFacts[]): ConfigDifference[] {
  const authored = runs.map((run) => authoredTree(run.authored));
  const written = runs.map(({ set }) =>
    set.map((one) => segments(one.slice(0, Math.max(0, one.indexOf("="))))),
  );
  const known = runs.filter(hasConfig);
  const places = runs.map((run) => known.indexOf(run));
  return treeDifferences(known.map(({ config }) => config))
    .filter(({ path }) => path !== "seed" && path !== "name")
    .map(({ path, values }) => {
      const parts = segments(path);
      const by = (run: number): WrittenBy =>
        places[run]! < 0
          ? "unknown"
          : written[run]!.some((one) => one.every((part, i) => parts[i] === part))
            ? "set"
            : writes(authored[run], parts)
              ? "file"
              : "default";
      return {
        path,
        values: places.map((place, run) => {
          const value = values[place];
          return { ...(value === undefined ? {} : { value }), by: by(run) };
        }),
      };
    });
}

function authoredTree(text: string): Json | undefined {
  const { root } = parseSource("", text, { file: "", folder: "", via: [], layer: "file" });
  const tree = root === undefined ? undefined : toJson(root);
  return isObject(tree) ? tree : undefined;
}

function notesOf(runs: readonly RunFacts[], groups: readonly (readonly number[])[]): string[] {
  const without = runs.filter((run) => run.sources === undefined && !run.imported && hasConfig(run));
  const imported = runs.filter((run) => run.imported);
  const unknown = runs.filter((run) => !hasConfig(run));
  const shorter = groups.filter((group) => new Set(group.map((at) => runs[at]!.step)).size > 1);
  const single = groups.filter(({ length }) => length === 1).length;
  return [
    ...(without.length === 0
      ? []
      : [
          `${without.length === runs.length && runs.length > mostNamed ? `None of the ${runs.length} runs kept its sources` : `${names(without)} kept no sources`}: whether rewards or data differ is not known.`,
        ]),
    ...(unknown.length === 0
      ? []
      : [
          `${names(unknown)} recorded no config${unknown.some((run) => !run.imported) ? " yet" : ""}: only those of the others are compared.`,
        ]),
    ...(imported.length === 0
      ? []
      : [
          `${names(imported)} ${imported.length === 1 ? "is" : "are"} another trainer's: configs are compared as they were converted.`,
        ]),
    ...(shorter.length === 0 ? [] : ["Means over seeds end where the shortest run of them does."]),
    ...(groups.length > 1 && single > 0
      ? [
          `${single === groups.length ? "Each group has one seed" : `${plural(single, "group")} of ${groups.length} ${single === 1 ? "has" : "have"} one seed`}: the difference may be that of the seeds.`,
        ]
      : []),
  ];
}

/** Of many only how many they are. */
const names = (runs: readonly RunFacts[]): string =>
  runs.length > mostNamed ? `${runs.length} of the runs` : runs.map(({ id }) => id).join(", ");
const mostNamed = 4;
