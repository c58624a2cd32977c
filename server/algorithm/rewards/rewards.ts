/** From what each term said of each rollout to one number a row and whether it is a success. */
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { decidingOrder } from "../../core/config/termFacts.ts";
import { valueAt, type Scheduled } from "../../core/schedule.ts";
import type { TermValue, TextSpans } from "../../core/slots/reward.ts";
import type { Clock, Level } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import { status, type Combine, type Combined, type RewardColumn, type Rewards } from "../../core/reward.ts";
import { create } from "../../core/create.ts";
import type { CreateContext } from "../../core/declaration.ts";

/** `success` per row: whether it counts as one; unknown where the term that decides failed or none applies. */
export const outcome = { wrong: 0, right: 1, unknown: 2 } as const;

export interface Scores {
  readonly rewards: Rewards;
  readonly combined: Combined;
  /** See `outcome`. */
  readonly success: Uint8Array;
}

/** How many values a row has at a level. */
function places(batch: Batch, row: number, level: Level): number {
  const record = batch.records[row]!;
  if (level === "response") return 1;
  if (level === "token") return batch.offsets[row + 1]! - batch.offsets[row]!;
  return (level === "turn" ? record.turns?.length : record.steps?.length) ?? 0;
}

function checked(value: TermValue, batch: Batch, row: number): TermValue {
  if (value.kind === "value")
    return Number.isFinite(value.value)
      ? value
      : { kind: "error", message: `the value is ${value.value}, which is not finite` };
  if (value.kind !== "values") return value;
  const wanted = places(batch, row, value.level);
  if (value.values.length !== wanted)
    return { kind: "error", message: `${value.values.length} values for ${wanted} ${value.level}s` };
  const bad = value.values.find((number) => !Number.isFinite(number) && !Number.isNaN(number));
  return bad === undefined ? value : { kind: "error", message: `a value is ${bad}, which is not finite` };
}

/** What values come with, by row; undefined where none has any. */
function byRow<Found>(
  values: readonly TermValue[],
  of: (value: TermValue) => Found | undefined,
): ReadonlyMap<number, Found> | undefined {
  const found = new Map<number, Found>();
  values.forEach((value, row) => {
    const own = of(value);
    if (own !== undefined) found.set(row, own);
  });
  return found.size === 0 ? undefined : found;
}

/** A term's results as a column. In a column with values at a finer level, a row with one number has it as its only value. */
export function columnOf(name: string, results: readonly TermValue[], batch: Batch): RewardColumn {
  const values = results.map((result, row) => checked(result, batch, row));
  const level = values.reduce<Level>(
    (found, value) => (value.kind === "values" ? value.level : found),
    "response",
  );
  const lists = values.map((value) =>
    value.kind === "values"
      ? value.values
      : value.kind === "value"
        ? [value.value]
        : level === "response"
          ? [Number.NaN]
          : [],
  );
  const spans = byRow<TextSpans>(values, (value) => (value.kind === "error" ? undefined : value.spans));
  // What a term said is kept even where its value was refused.
  const criteria = byRow(results, (result) => result.criteria);
  const components = byRow(results, (result) => result.components);
  const offsets = new Int32Array(lists.length + 1);
  lists.forEach((list, row) => (offsets[row + 1] = offsets[row]! + list.length));
  return {
    name,
    level,
    offsets,
    status: Uint8Array.from(values, ({ kind }) =>
      kind === "error" ? status.error : kind === "none" ? status.none : status.value,
    ),
    values: Float64Array.from(lists.flat()),
    errors: new Map(
      values.flatMap((value, row): [number, string][] =>
        value.kind === "error" ? [[row, value.message]] : [],
      ),
    ),
    ...(spans && { spans }),
    ...(criteria && { criteria }),
    ...(components && { components }),
  };
}

/** What a term said of a row. */
export function valueIn(column: RewardColumn, row: number): TermValue {
  if (column.status[row] === status.none) return { kind: "none" };
  if (column.status[row] === status.error)
    return { kind: "error", message: `${column.name}: ${column.errors.get(row) ?? "it failed"}` };
  const values = [...column.values.subarray(column.offsets[row], column.offsets[row + 1])];
  return column.level === "response" || values.length === 1
    ? { kind: "value", value: values[0] ?? Number.NaN }
    : { kind: "values", level: column.level, values };
}

/** A row's value of a term: the sum over its places; NaN where it has none. */
export function rowValue(column: RewardColumn, row: number): number {
  if (column.status[row] !== status.value) return Number.NaN;
  let sum = 0;
  for (let i = column.offsets[row]!; i < column.offsets[row + 1]!; i++)
    sum += Number.isNaN(column.values[i]!) ? 0 : column.values[i]!;
  return sum;
}

/** The last value of a row: of attempts, the last one's reward; NaN where it has none. */
export function lastValue({ offsets, values, status: states }: RewardColumn, row: number): number {
  if (states[row] !== status.value) return Number.NaN;
  for (let i = offsets[row + 1]! - 1; i >= offsets[row]!; i--)
    if (!Number.isNaN(values[i]!)) return values[i]!;
  return Number.NaN;
}

/** Whether the config sends rollouts of a task source to a term. */
export const applies = (term: RewardTermConfig, source: string): boolean =>
  term.tasks === undefined || term.tasks.includes(source);

const discounted = (term: RewardColumn, gamma: Scheduled | undefined, clock: Clock): RewardColumn =>
  gamma === undefined ? term : { ...term, gamma: valueAt(gamma, clock) };

export class RewardChain {
  private readonly combine: Combine;

  constructor(
    private readonly config: StageBody["reward"],
    context: CreateContext,
  ) {
    this.combine = create(config.combine, context);
  }

  weights(clock: Clock): number[] {
    return this.config.terms.map(({ weight }) => valueAt(weight, clock));
  }

  /** `terms` are in the order of the config; columns beyond its own are rewards that were recorded whole, of weight 1. */
  rewards(terms: readonly RewardColumn[], batch: Batch, clock: Clock): Scores {
    const weights = this.weights(clock);
    const rewards: Rewards = {
      terms: terms.map((term, i) => discounted(term, this.config.terms[i]?.gamma, clock)),
      weights: terms.map((_, i) => weights[i] ?? 1),
    };
    return { rewards, combined: this.combine(rewards, batch), success: this.success(terms, batch) };
  }

  private scoresTurns({ name, level }: RewardColumn, attempts: RewardTermConfig["attempts"]): boolean {
    return (
      level === "turn" && this.config.terms.some((one) => one.name === name && one.attempts === attempts)
    );
  }

  /** The first of the deciding terms that applies to a row decides. */
  private success(terms: readonly RewardColumn[], batch: Batch): Uint8Array {
    const { at_least } = this.config.success;
    const own = this.config.terms.length;
    const deciding = [
      // Columns are in the order of the config's terms.
      ...decidingOrder(this.config).flatMap((term) => terms[this.config.terms.indexOf(term)] ?? []),
      ...terms.slice(own),
    ];
    return Uint8Array.from({ length: batch.rows }, (_, row) => {
      const first = deciding.find((term) => term.status[row] !== status.none);
      if (first === undefined || first.status[row] === status.error) return outcome.unknown;
      const value = this.scoresTurns(first, "each") ? lastValue(first, row) : rowValue(first, row);
      return value >= at_least ? outcome.right : outcome.wrong;
    });
  }
}
