/** Which fields of a trainer's file are rewards, and which terms of the config they are. */
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { PlacedRecord } from "../../../shared/log/records.ts";
import { parquetRows, parquetSample, parquetShape } from "../../lib/parquet.ts";
import { valueAt } from "../../core/schedule.ts";
import type { RewardTermConfig } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { TrainerOutput } from "./findOutput.ts";
import { weightsFrom } from "./rewardWeights.ts";
import type { TrainerMetrics } from "./trainerMetrics.ts";

type Terms = PlacedRecord["terms"];

const beginning = { step: 0, stageStep: 0 };

export const termsOf = (
  output: TrainerOutput,
  metrics: TrainerMetrics,
  config: RunConfig | undefined,
): Terms => {
  const own = (config?.top.reward.terms ?? [])
    .map((term) => ({ term: term.name, weight: weightOf(term) }))
    .filter(({ weight }) => weight !== 0);
  return output.trainer === "verl"
    ? verlTerms(own)
    : trlTerms(rewardColumns(output, metrics.rewards ?? []), own, (fields) =>
        weightsOf(fields, output, metrics),
      );
};

/** TRL names a function's column after it: names of which none is the script's are another script's. */
export function othersOf(
  { trainer, files }: TrainerOutput,
  { rewards = [] }: TrainerMetrics,
  { top }: RunConfig,
): { readonly dumped: readonly string[]; readonly configured: readonly string[] } | null {
  if (trainer !== "trl") return null;
  const dumped = rewardColumns({ files }, rewards);
  const configured = top.reward.terms.map(({ name }) => name);
  const known = dumped.some((name) => configured.includes(name));
  return known || dumped.length === 0 || configured.length === 0 ? null : { dumped, configured };
}

const weightOf = (term: RewardTermConfig): number => valueAt(term.weight, beginning);

type Own = readonly { readonly term: string; readonly weight: number }[];

/** `score` is the whole reward: the config's term where it has one, and no term where it has several. */
function verlTerms(own: Own): Terms {
  if (own.length > 1) return [];
  return [{ field: "score", term: own[0]?.term ?? "score", weight: 1 }];
}

/** By name, else in their order where there are as many; else under the functions' own names. */
function trlTerms(
  fields: readonly string[],
  own: Own,
  weights: (fields: readonly string[]) => readonly number[] | undefined,
): Terms {
  const byName = fields.map((field) => own.find(({ term }) => term === field));
  if (own.length > 0 && byName.every((one) => one !== undefined))
    return fields.map((field, at) => ({ field, ...byName[at]! }));
  if (own.length === fields.length) return fields.map((field, at) => ({ field, ...own[at]! }));
  const found = weights(fields);
  // All 0: there is no reward to show, where it might be another.
  return fields.map((field, at) => ({ field, term: field, weight: found?.[at] ?? 0 }));
}

/** Files that are read for it. */
const mostFiles = 16;

/** From what the rollouts got, where metrics are of one step each; else from the metrics alone. */
function weightsOf(
  fields: readonly string[],
  { files }: TrainerOutput,
  { rewards = [], logged = [], every, evaluated = [] }: TrainerMetrics,
): readonly number[] | undefined {
  const totals = new Map(logged.map(({ step, total }) => [step, total]));
  const ofFiles = (every === 1 ? files.slice(-mostFiles) : []).flatMap(({ step, file }) => {
    const total = evaluated.includes(step) ? undefined : totals.get(step);
    return total === undefined ? [] : [{ parts: meansOf(parquetRows(file), fields), total }];
  });
  if (ofFiles.length > 0) return weightsFrom(ofFiles, fields.length);
  const order = fields.map((field) => rewards.indexOf(field));
  const ofMetrics = logged.map(({ parts, total }) => ({
    parts: order.map((at) => parts[at] ?? Number.NaN),
    total,
  }));
  return weightsFrom(ofMetrics, fields.length);
}

/** Over the rollouts to which some function applies; one that does not apply adds nothing. */
function meansOf(rows: readonly JsonObject[], fields: readonly string[]): number[] {
  const scored = rows.filter((row) => fields.some((field) => typeof row[field] === "number"));
  const sum = (field: string): number =>
    scored.reduce((all, row) => all + (typeof row[field] === "number" ? row[field] : 0), 0);
  return fields.map((field) => sum(field) / scored.length);
}

const known = new Set(["step", "prompt", "completion", "advantage"]);

/** Those that TRL's metrics name; without metrics the columns of numbers. */
function rewardColumns({ files }: Pick<TrainerOutput, "files">, named: readonly string[]): readonly string[] {
  const file = files.at(-1)?.file;
  if (file === undefined) return [];
  const columns = parquetShape(file).columns.filter((column) => !known.has(column));
  const rewards = columns.filter((column) => named.includes(column));
  if (rewards.length > 0) return rewards;
  const sample = parquetSample(file, 64);
  return columns.filter((column) => isNumeric(sample, column));
}

/** A column of nulls alone may be a reward that never applied. */
const isNumeric = (rows: readonly JsonObject[], column: string): boolean =>
  rows.every((row) => row[column] === null || typeof row[column] === "number");
