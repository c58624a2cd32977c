/** Everything after the baseline and the scale, and out to the tokens: prefixes → whitening → sign → filter → tokens. */
import { filtered } from "../../methods/advantage/filter.ts";
import type { Moments } from "../../lib/moments.ts";
import { sharedPrefixes } from "../../methods/advantage/prefixes.ts";
import type { Units } from "../../core/slots/advantage.ts";
import { trainedTokens } from "../../methods/advantage/units.ts";
import { standardise, whitening } from "../../methods/advantage/whiten.ts";
import { valueAt } from "../../core/schedule.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import { RowAdvantages, UnitAdvantages } from "./overTokens.ts";
import type { Advantages } from "./tokenAdvantages.ts";

/** Values of units, and the units: later stages may cut finer. */
export interface Valued {
  readonly units: Units;
  readonly values: Float64Array;
  /** Sums over them, where the baseline has made them. */
  readonly moments?: Moments | undefined;
}

/** Of each row. */
interface RowRewards {
  /** NaN where it has no reward. */
  readonly totals: Float64Array;
  /** 1 where a term failed. */
  readonly errored: Uint8Array;
}

/** @param targets what a value head should have said before each token, where the baseline knows */
export function finished(
  config: StageBody["advantage"],
  valued: Valued,
  targets: Float64Array | undefined,
  rewards: RowRewards,
  { batch, clock }: { readonly batch: Batch; readonly clock: Clock },
): Advantages {
  const made: Valued = config.prefix === "hard" ? sharedPrefixes(valued, batch) : valued;
  const { units, values: shared, moments } = made;
  const by = whitening(shared, () => trainedTokens(units, batch.mask), config.whiten, moments);
  const [up, down] = [valueAt(config.sign.positive, clock), valueAt(config.sign.negative, clock)];
  const plain = up === 1 && down === 1 && config.filter === "none";
  if (by?.complete === true && plain && units.everyToken === true)
    return new UnitAdvantages(shared, units, batch, targets, by);
  if (by !== undefined) standardise(shared, by);
  const signed = up === 1 && down === 1 ? shared : shared.map((a) => (a > 0 ? up * a : a < 0 ? down * a : a));
  const values = filtered(signed, units, config.filter);
  if (config.unscored === "zero") fillUnscored(values, units, rewards, batch);
  if (units.level === "response") return new RowAdvantages(values, batch, targets);
  return new UnitAdvantages(values, units, batch, targets);
}

/** Rows that were to train and that no term scores are at the baseline. */
function fillUnscored(
  values: Float64Array,
  { row }: Units,
  { totals, errored }: RowRewards,
  { records }: Batch,
): void {
  for (let unit = 0; unit < values.length; unit++) {
    const own = row[unit]!;
    if (Number.isNaN(totals[own]!) && errored[own] === 0 && records[own]!.use === "train") values[unit] = 0;
  }
}
