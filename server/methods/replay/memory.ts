/** Rollouts kept beyond their step, and the mean rewards of recent groups. Bounded; saved and taken up exactly. */
import { z } from "zod";
import type { Json } from "../../../shared/lib/json.ts";
import type { KeptRow } from "./keptRow.ts";
import type { ReplayDrawn, Past, ReplayAdmission } from "../../core/slots/replay.ts";
import type { Saved, Stateful } from "../../core/basics.ts";
import { isEarlierPart, type Batch, type RolloutRecord } from "../../core/rollouts.ts";
import { lengthOfAll } from "../../core/rows/batch.ts";
import { savedOfFile, savedRows, takenUp, takeUpFile } from "./saved.ts";
import { mean } from "../../../shared/lib/mean.ts";

/** What is drawn together: one rollout with all of its rows, or the kept ones of a group. */
export interface DrawUnit {
  readonly rows: readonly KeptRow[];
  readonly past: Past;
}

/** Over the tokens that train. */
function meanOver({ mask }: Batch, column: Float64Array | undefined): number {
  if (column === undefined) return Number.NaN;
  let [sum, count] = [0, 0];
  for (let i = 0; i < column.length; i++) {
    if (mask[i] !== 1 || Number.isNaN(column[i]!)) continue;
    sum += column[i]!;
    count += 1;
  }
  return sum / count;
}

const recordOf = ({ batch }: KeptRow): RolloutRecord => batch.records[0]!;

/** Rows of one episode have the same; undefined: the rollout is one row. */
function episodeOf(row: KeptRow): string | undefined {
  const { part, index } = recordOf(row);
  return part === undefined ? undefined : `${row.group} ${index}`;
}

/** Rows with the same name, in the order in which the names appear; one without a name is alone. */
function together(rows: readonly KeptRow[], name: (row: KeptRow) => string | undefined): KeptRow[][] {
  const named = new Map<string | KeptRow, KeptRow[]>();
  for (const row of rows) {
    const own = name(row) ?? row;
    const known = named.get(own);
    if (known === undefined) named.set(own, [row]);
    else known.push(row);
  }
  return [...named.values()];
}

/** Of an episode of several rows its last stands for it; it is as long as all of them. */
export function pastOf(rows: readonly KeptRow[], step: number): Past {
  const ends = rows.filter((row) => !isEarlierPart(recordOf(row)));
  const of = (value: (row: KeptRow) => number): number => mean(ends.map(value));
  return {
    task: rows[0]!.batch.records[0]!.task.id,
    reward: of(({ reward }) => reward),
    advantage: of(({ batch, advantages }) => meanOver(batch, advantages)),
    success: of(({ success }) => (success === 2 ? Number.NaN : success)),
    perplexity: of(({ batch }) => Math.exp(-meanOver(batch, batch.columns.logp_old))),
    length: rows.reduce((sum, { batch }) => sum + lengthOfAll(batch), 0) / ends.length,
    age: step - rows[0]!.step,
    draws: Math.max(...rows.map(({ draws }) => draws)),
    left: rows.every(({ left }) => left),
  };
}

const grownSchema = z.object({ rows: z.json(), log: z.json() });

export class Memory implements Stateful {
  rows: KeptRow[] = [];
  /** Means and spreads of rewards of recent groups, oldest first. */
  private means: number[] = [];
  private spreads: number[] = [];

  /** What others add to while the run goes on. */
  log: { save(): Json; load(json: Json): void } | undefined;

  /** How many groups' rewards are remembered. */
  groups = 0;

  /**
   * @param capacity rows; an episode of several stays whole, so there may be a few more
   * @param maxAge steps
   * @param fixed the rollouts are a file's: of them only what a run has added is saved
   */
  constructor(
    readonly capacity: number,
    private readonly maxAge: number | undefined,
    readonly fixed = false,
  ) {}

  /** Keeps those that are let in; the oldest make room. */
  keep(rows: readonly KeptRow[], admits: ReplayAdmission, step: number): void {
    const episodes = together(rows, episodeOf);
    this.rows.push(...episodes.filter((own) => admits(pastOf(own, step))).flat());
    this.forget(step);
  }

  forget(step: number): void {
    const fresh =
      this.maxAge === undefined ? this.rows : this.rows.filter((row) => step - row.step <= this.maxAge!);
    let first = Math.max(0, fresh.length - this.capacity);
    while (first > 0 && (recordOf(fresh[first]!).part?.number ?? 1) > 1) first -= 1;
    this.rows = fresh.slice(first);
  }

  get full(): boolean {
    return this.rows.length >= this.capacity;
  }

  units(by: "rollout" | "group", step: number): DrawUnit[] {
    const units = together(this.rows, by === "rollout" ? episodeOf : ({ group }) => group);
    return units.map((rows) => ({ rows, past: pastOf(rows, step) }));
  }

  /** Remembers the rewards of a step's groups. */
  observe(rewards: readonly Float64Array[]): void {
    for (const values of rewards) {
      if (values.length === 0) continue;
      const centre = mean([...values]);
      const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
      this.means.push(centre);
      this.spreads.push(values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1)));
    }
    this.means = this.means.slice(Math.max(0, this.means.length - this.groups));
    this.spreads = this.spreads.slice(Math.max(0, this.spreads.length - this.groups));
  }

  /** Quantiles of the mean reward and of the spread of recent groups; undefined before the first. */
  level(quantile: number): { readonly mean: number; readonly spread: number } | undefined {
    if (this.means.length === 0) return undefined;
    return { mean: quantileOf(this.means, quantile), spread: quantileOf(this.spreads, quantile) };
  }

  save(): Saved {
    const { json, arrays }: Saved = this.fixed ? savedOfFile(this.rows) : savedRows(this.rows);
    return {
      json: this.log === undefined ? json : { rows: json, log: this.log.save() },
      arrays: { ...arrays, means: Float64Array.from(this.means), spreads: Float64Array.from(this.spreads) },
    };
  }
  load(saved: Saved): void {
    if (this.fixed) takeUpFile(this.rows, saved);
    else if (this.log !== undefined) {
      const { rows, log } = grownSchema.parse(saved.json);
      this.rows = takenUp({ ...saved, json: rows });
      this.log.load(log);
    } else this.rows = takenUp(saved);
    this.means = [...(saved.arrays?.["means"] ?? [])];
    this.spreads = [...(saved.arrays?.["spreads"] ?? [])];
  }
}

/** Linear between the two nearest order statistics. */
export function quantileOf(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}

/** Units and weights of a draw, with the draw counted. */
export function taken(
  units: readonly DrawUnit[],
  drawn: readonly ReplayDrawn[],
): { rows: KeptRow[]; weights: number[] } {
  const rows: KeptRow[] = [];
  const weights: number[] = [];
  for (const { index, weight } of drawn)
    for (const row of units[index]!.rows) {
      row.draws += 1;
      rows.push(row);
      weights.push(weight);
    }
  return { rows, weights };
}

/** Advantages per token of rows whose reward is held against what recent groups got; undefined: drop the row. */
export function recalibrated(
  row: KeptRow,
  level: { readonly mean: number; readonly spread: number },
  { negatives, divide }: { readonly negatives: "drop" | "keep"; readonly divide: boolean },
): Float64Array | undefined {
  const centred = row.reward - level.mean;
  if (Number.isNaN(centred) || (negatives === "drop" && centred < 0)) return undefined;
  const value = divide ? centred / (level.spread + 1e-6) : centred;
  return new Float64Array(row.batch.tokens.length).fill(value);
}
