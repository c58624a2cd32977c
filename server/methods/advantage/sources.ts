/** Sources of reward on units: which unit gets a value that was given for a token, a turn, a step or the whole. */
import type { Level } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import { status, type RewardColumn } from "../../core/reward.ts";
import { underOwnDiscount, type Discount } from "./returns.ts";
import { advantageLevels, type AdvantageLevel, type Units } from "../../core/slots/advantage.ts";

export interface RewardSource {
  readonly column: RewardColumn;
  /** Factor that the column's values already have. */
  readonly weight: number;
}

/** The coarser of a source's level and the chain's. */
export const coarser = (source: Level, chain: AdvantageLevel): AdvantageLevel =>
  advantageLevels.indexOf(source) < advantageLevels.indexOf(chain) ? source : chain;

/** The last unit of a row that begins at or before a token, among those with a token that trains; −1: none. */
function earner({ level, offsets, first }: Units, row: number, token: number, hint: number): number {
  if (level === "response") return row;
  const [from, to] = [offsets[row]!, offsets[row + 1]!];
  let unit = Math.max(from, Math.min(hint, to - 1));
  while (unit > from && first[unit]! > token) unit--;
  while (unit + 1 < to && first[unit + 1]! <= token) unit++;
  return to > from && first[unit]! <= token ? unit : -1;
}

/** The last token of place `k` of a row: of its turn or step, the token itself, or the row's last. */
function lastToken({ records, offsets }: Batch, row: number, level: Level, k: number): number {
  const start = offsets[row]!;
  const { turns, steps } = records[row]!;
  if (level === "token") return start + k;
  const end = level === "turn" ? turns?.[k]?.end : level === "step" ? steps?.[k]?.[1] : undefined;
  return (end === undefined ? offsets[row + 1]! : start + end) - 1;
}

/** What units get their rewards from. */
interface Crediting {
  readonly columns: readonly RewardColumn[];
  readonly units: Units;
  /** Per row; NaN: it has no reward. */
  readonly totals: Float64Array;
  readonly batch: Batch;
  /** Per token, taken off. */
  readonly penalty: Float64Array | undefined;
  /** Of the chain, for sources with a discount of their own; absent: theirs is not asked. */
  readonly discount?: Discount;
}

/**
 * What each unit earned of some sources: the last unit that had started when a value was given gets it, so
 * a whole response's reward falls to its last unit. Values given before any token belong to no unit. NaN where
 * `totals` says that the row has none. Of a row at a time, or a column of all.
 */
export class Earned {
  private all: Float64Array | undefined;
  private near = new Float64Array(0);

  /** @param place where a column is written: all 0 */
  constructor(
    private readonly crediting: Crediting,
    private readonly place: (size: number) => Float64Array,
  ) {}

  /** Of a row's units, from the beginning of an array that the next call overwrites. */
  row(row: number): Float64Array {
    const { offsets } = this.crediting.units;
    const size = offsets[row + 1]! - offsets[row]!;
    if (this.near.length < size) this.near = new Float64Array(size);
    this.near.fill(0, 0, size);
    creditRow(this.crediting, row, this.near, offsets[row]!, undefined);
    return this.near;
  }

  get column(): Float64Array {
    const { crediting, place } = this;
    return (this.all ??= rewardsOfUnits(crediting, undefined, place(crediting.units.count)));
  }
}

/**
 * @param into takes each row's sum, where asked for; rows to which no source applies keep what they have
 * @param rewards where they are written: all 0
 */
export function rewardsOfUnits(
  crediting: Crediting,
  into?: Float64Array,
  rewards: Float64Array = new Float64Array(crediting.units.count),
): Float64Array {
  for (let row = 0; row < crediting.batch.rows; row++) creditRow(crediting, row, rewards, 0, into);
  return rewards;
}

/** @param rewards those of the units from `base` on: 0 on the row's */
function creditRow(
  crediting: Crediting,
  row: number,
  rewards: Float64Array,
  base: number,
  into: Float64Array | undefined,
): void {
  const { columns, units, totals, penalty } = crediting;
  const applying = columns.filter((column) => column.status[row] === status.value);
  if (Number.isNaN(totals[row]!) || (into !== undefined && applying.length === 0)) {
    rewards.fill(Number.NaN, units.offsets[row]! - base, units.offsets[row + 1]! - base);
    return;
  }
  if (into !== undefined) into[row] = 0;
  for (const column of applying) {
    const { gamma } = column;
    if (gamma === undefined || crediting.discount === undefined || gamma === crediting.discount.gamma)
      creditTerm(column, crediting, row, rewards, base, into);
    else
      creditDiscounted(
        column,
        { ...crediting, discount: crediting.discount },
        gamma,
        row,
        rewards,
        base,
        into,
      );
  }
  if (penalty !== undefined) charge(penalty, crediting, row, rewards, base);
}

function creditDiscounted(
  column: RewardColumn,
  crediting: Crediting & { readonly discount: Discount },
  gamma: number,
  row: number,
  rewards: Float64Array,
  base: number,
  into: Float64Array | undefined,
): void {
  const { units, discount } = crediting;
  const first = units.offsets[row]!;
  const own = new Float64Array(units.offsets[row + 1]! - first);
  creditTerm(column, crediting, row, own, first, into);
  underOwnDiscount(own, first, units, row, gamma, discount);
  own.forEach((value, i) => (rewards[first + i - base]! += value));
}

function creditTerm(
  column: RewardColumn,
  { units, batch }: Crediting,
  row: number,
  rewards: Float64Array,
  base: number,
  into: Float64Array | undefined,
): void {
  // A row with one value, in a column of values by position, was rewarded for the whole.
  const start = column.offsets[row]!;
  const whole = column.offsets[row + 1]! - start === 1;
  let unit = whole ? units.offsets[row + 1]! - 1 : units.offsets[row]!;
  for (let i = start; i < column.offsets[row + 1]!; i++) {
    const value = column.values[i]!;
    if (Number.isNaN(value)) continue;
    if (into !== undefined) into[row]! += value;
    const token = whole ? batch.offsets[row + 1]! - 1 : lastToken(batch, row, column.level, i - start);
    unit = earner(units, row, token, Math.max(unit, units.offsets[row]!));
    if (unit >= 0) rewards[unit - base]! += value;
  }
}

function charge(
  penalty: Float64Array,
  { units, batch }: Crediting,
  row: number,
  rewards: Float64Array,
  base: number,
): void {
  let unit = units.offsets[row]!;
  for (let t = batch.offsets[row]!; t < batch.offsets[row + 1]!; t++) {
    if (penalty[t] === 0) continue;
    unit = earner(units, row, t, unit);
    if (unit >= 0) rewards[unit - base]! -= penalty[t]!;
  }
}

/**
 * Values of coarse units on finer ones. Those that are summed to go afterwards are on the last finer unit of each,
 * others on all of them.
 */
export function placed(
  values: Float64Array,
  coarse: Units,
  fine: Units,
  returns: "after" | "before" | "none",
): Float64Array {
  const result = new Float64Array(fine.count);
  for (let row = 0; row + 1 < fine.offsets.length; row++) {
    let unit = fine.offsets[row]!;
    for (let big = coarse.offsets[row]!; big < coarse.offsets[row + 1]!; big++) {
      const begin = unit;
      while (unit < fine.offsets[row + 1]! && fine.start[unit]! < coarse.end[big]!) unit++;
      if (unit === begin) continue;
      if (returns === "after") result[unit - 1] = values[big]!;
      else result.fill(values[big]!, begin, unit);
    }
  }
  return result;
}

/** Values of units on the tokens they cover; `none` elsewhere. They themselves where every token is a unit. */
export function spreadOver(values: Float64Array, units: Units, batch: Batch, none: number): Float64Array {
  if (units.everyToken === true) return values;
  const tokens = new Float64Array(batch.tokens.length).fill(none);
  const { count, start, end } = units;
  for (let unit = 0; unit < count; unit++)
    for (let t = start[unit]!; t < end[unit]!; t++) tokens[t] = values[unit]!;
  return tokens;
}
