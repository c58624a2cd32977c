/** Recorded rollouts scored again by the config's reward as it is now. Needs neither daemon nor store nor model. */
import { Algorithm, contextOf } from "../../algorithm/algorithm.ts";
import { type Scores, columnOf, rowValue } from "../../algorithm/rewards/rewards.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { componentsOf } from "../../algorithm/rewards/components.ts";
import { detailsOf } from "../../algorithm/rewards/criteria.ts";
import { batchOfRows, groupKey, recordedValue, type RecordedRow } from "../recorded.ts";
import { meanOrNull } from "../../../shared/lib/mean.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { fromWire, toWire, type RolloutRow, type WireNumber } from "../../../shared/rollouts/rollouts.ts";
import { Scorer } from "../../algorithm/rewards/scoring.ts";
import { stageAt } from "../explain/stageAt.ts";
import type { TermDetails } from "../../../shared/rollouts/criteria.ts";
import { criteriaChanges, type CriterionChange } from "./criteriaChanges.ts";
import { noModels, noTokenizer } from "./noModels.ts";
import type { Random } from "../../lib/random.ts";
import type { Batch } from "../../core/rollouts.ts";
import { status, type RewardColumn } from "../../core/reward.ts";

interface RescoredRollout {
  readonly type: "rollout";
  readonly step: number;
  readonly group: string;
  readonly index: number;
  readonly rewards: Readonly<Record<string, WireNumber | null>>;
  readonly errors: Readonly<Record<string, string>>;
  /** By term, what it says now of each criterion, where it judges by such. */
  readonly details?: Readonly<Record<string, TermDetails>>;
  /** By term, numbers that it gives next to its value. */
  readonly components?: RolloutRow["components"];
  readonly reward: WireNumber | null;
  /** As recorded; null where it was not. */
  readonly before: WireNumber | null;
}
export interface RescoredSummary {
  readonly type: "summary";
  readonly rollouts: number;
  readonly terms: Readonly<
    Record<
      string,
      {
        readonly mean: WireNumber | null;
        readonly before: WireNumber | null;
        readonly errors: number;
        readonly changed: number;
        /** By criterion, where the term judges by such. */
        readonly criteria?: Readonly<Record<string, CriterionChange>>;
      }
    >
  >;
  /** The combined reward. */
  readonly total: {
    readonly mean: WireNumber | null;
    readonly before: WireNumber | null;
    readonly changed: number;
    /** Rollouts that had a reward and have none now: a term of non-zero weight fails, or none applies. */
    readonly errors: number;
    /** Rollouts that were above their group's mean and are below it now, or the other way round. */
    readonly flips: number;
  };
  readonly groups: {
    readonly total: number;
    /** Groups whose rewards differ now and did not before, and the other way round: what training gains and loses. */
    readonly gained: readonly string[];
    readonly lost: readonly string[];
  };
}
export type Rescored = RescoredRollout | RescoredSummary;

const wireOrNull = (value: number | null): WireNumber | null =>
  value === null || Number.isNaN(value) ? null : toWire(value);

function recordedTerms(body: StageBody, rows: readonly RolloutRow[], batch: Batch): RewardColumn[] {
  return body.reward.terms.map(({ name }) =>
    columnOf(
      name,
      rows.map((row) => recordedValue(row, name)),
      batch,
    ),
  );
}

/** The total as recorded: from `reward`, else from the terms as this config weighs them. */
function recordedTotals(rows: readonly RolloutRow[], scored: Scores): number[] {
  return rows.map((row, i) => {
    if (row.reward !== undefined) return fromWire(row.reward);
    return scored.combined.errored[i] === 1 ? Number.NaN : scored.combined.total[i]!;
  });
}

const varies = (values: readonly number[]): boolean => {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.some((value) => value !== known[0]);
};

/** Rows of each group. */
function membersOf(rows: readonly RolloutRow[]): Map<string, number[]> {
  const members = new Map<string, number[]>();
  rows.forEach((row, i) => {
    const key = groupKey(row);
    const known = members.get(key);
    if (known === undefined) members.set(key, [i]);
    else known.push(i);
  });
  return members;
}

/** Differences as small as rounding makes them have no side. */
function sides(values: readonly number[]): number[] {
  const known = values.filter((value) => !Number.isNaN(value));
  const centre = meanOrNull(known) ?? 0;
  const least = 1e-9 * Math.max(1, ...known.map(Math.abs));
  return values.map((value) => (Math.abs(value - centre) > least ? Math.sign(value - centre) : 0));
}

function totalChanges(
  rows: readonly RolloutRow[],
  before: readonly number[],
  now: readonly number[],
): RescoredSummary["total"] {
  let flips = 0;
  for (const indices of membersOf(rows).values()) {
    const [did, does] = [sides(indices.map((i) => before[i]!)), sides(indices.map((i) => now[i]!))];
    flips += did.filter((side, i) => side * does[i]! < 0).length;
  }
  const known = (values: readonly number[]): WireNumber | null =>
    wireOrNull(meanOrNull(values.filter((value) => !Number.isNaN(value))));
  return {
    mean: known(now),
    before: known(before),
    changed: now.filter((value, i) => !Object.is(value, before[i]!)).length,
    errors: now.filter((value, i) => Number.isNaN(value) && !Number.isNaN(before[i]!)).length,
    flips,
  };
}

function groupChanges(
  rows: readonly RolloutRow[],
  before: readonly number[],
  now: readonly number[],
): RescoredSummary["groups"] {
  const members = membersOf(rows);
  const gained: string[] = [];
  const lost: string[] = [];
  for (const indices of members.values()) {
    const [did, does] = [varies(indices.map((i) => before[i]!)), varies(indices.map((i) => now[i]!))];
    const { step, group } = rows[indices[0]!]!;
    if (does && !did) gained.push(`${step}/${group}`);
    if (did && !does) lost.push(`${step}/${group}`);
  }
  return { total: members.size, gained, lost };
}

interface StepPart {
  readonly rows: readonly RolloutRow[];
  readonly columns: readonly RewardColumn[];
  readonly recorded: readonly RewardColumn[];
  readonly now: readonly number[];
  readonly before: readonly number[];
}

async function rescorePart(
  config: RunConfig,
  rows: readonly RolloutRow[],
  scorers: Map<StageBody, Scorer>,
  random: Random,
): Promise<StepPart> {
  const { body, clock } = stageAt(config, rows[0]!.step);
  const context = contextOf(body, { random, models: noModels });
  const scorer = scorers.get(body) ?? new Scorer(body.reward, context);
  if (!scorers.has(body)) {
    scorers.set(body, scorer);
    await scorer.prepare();
  }
  const batch = batchOfRows(rows, body.tasks);
  const columns = await scorer.score(batch, { models: noModels, tokenizer: noTokenizer, clock });
  const algorithm = new Algorithm(body, context);
  const scored = algorithm.rewards(columns, batch, clock);
  const recorded = recordedTerms(body, rows, batch);
  const now = Array.from(scored.combined.total, (total, i) =>
    scored.combined.errored[i] === 1 ? Number.NaN : total,
  );
  return {
    rows,
    columns,
    recorded,
    now,
    before: recordedTotals(rows, algorithm.rewards(recorded, batch, clock)),
  };
}

const rollout = ({ rows, columns, now, before }: StepPart, i: number): RescoredRollout => ({
  type: "rollout",
  step: rows[i]!.step,
  group: rows[i]!.group,
  index: rows[i]!.index,
  rewards: Object.fromEntries(
    columns
      .filter((column) => column.status[i] !== status.error)
      .map((column) => [column.name, wireOrNull(rowValue(column, i))]),
  ),
  errors: Object.fromEntries(
    columns.flatMap((column) => (column.errors.has(i) ? [[column.name, column.errors.get(i)!]] : [])),
  ),
  ...detailsOf(columns, i),
  ...componentsOf(columns, i),
  reward: wireOrNull(now[i]!),
  before: wireOrNull(before[i]!),
});

function summary(parts: readonly StepPart[]): RescoredSummary {
  const names = [...new Set(parts.flatMap(({ columns }) => columns.map(({ name }) => name)))];
  const valuesOf = (name: string, which: "columns" | "recorded"): number[] =>
    parts.flatMap((part) =>
      part.rows.map((_, i) => {
        const column = part[which].find((other) => other.name === name);
        return column === undefined ? Number.NaN : rowValue(column, i);
      }),
    );
  const terms = names.map((name) => {
    const [now, before] = [valuesOf(name, "columns"), valuesOf(name, "recorded")];
    const errors = parts.reduce(
      (sum, { columns }) => sum + (columns.find((column) => column.name === name)?.errors.size ?? 0),
      0,
    );
    const changed = now.filter((value, i) => !Object.is(value, before[i]!)).length;
    const known = (values: readonly number[]): WireNumber | null =>
      wireOrNull(meanOrNull(values.filter((value) => !Number.isNaN(value))));
    const criteria = criteriaChanges(
      parts.map(({ columns, recorded }) => ({
        now: columns.find((column) => column.name === name),
        before: recorded.find((column) => column.name === name),
      })),
    );
    return [
      name,
      { mean: known(now), before: known(before), errors, changed, ...(criteria && { criteria }) },
    ] as const;
  });
  const rows = parts.flatMap((part) => part.rows);
  const [before, now] = [parts.flatMap((part) => part.before), parts.flatMap((part) => part.now)];
  return {
    type: "summary",
    rollouts: rows.length,
    terms: Object.fromEntries(terms),
    total: totalChanges(rows, before, now),
    groups: groupChanges(rows, before, now),
  };
}

/** @throws UserError where a rollout has no text to score */
export function withResponse({ row, place }: RecordedRow): RolloutRow {
  if (row.response !== undefined) return row;
  throw new UserError('the rollout has no "response": there is nothing to score', {
    ...place,
    character: 0,
    code: "rescore-response",
    action: "Record the response's text with each rollout.",
  });
}

/** Every rollout in order of its step, then a summary. Ends the processes it started, also when the caller stops early. */
export async function* rescore(
  config: RunConfig,
  recorded: readonly RecordedRow[],
  random: Random,
): AsyncGenerator<Rescored> {
  const steps = new Map<string, RolloutRow[]>();
  for (const one of recorded) {
    const row = withResponse(one);
    const key = JSON.stringify([row.run ?? "", row.step]);
    steps.set(key, [...(steps.get(key) ?? []), row]);
  }
  const scorers = new Map<StageBody, Scorer>();
  const parts: StepPart[] = [];
  try {
    for (const rows of steps.values()) {
      const part = await rescorePart(config, rows, scorers, random);
      parts.push(part);
      for (let i = 0; i < rows.length; i++) yield rollout(part, i);
    }
    yield summary(parts);
  } finally {
    await Promise.all([...scorers.values()].map((scorer) => scorer.close()));
  }
}
