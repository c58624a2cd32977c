/** From the value of a token to one of a few colours, by a scale that is said. Pure. */
import { formatNumber } from "../../../../shared/lib/format.ts";
import { tokenChannels, type TokenChannel } from "../../../../shared/rollouts/tokenChannels.ts";

/** Of sequential scales 0 is nothing and 10 the strongest; of signed ones 5 is nothing, 0 the lowest, 10 the highest. */
export const bucketCount = 11;
const middle = (bucketCount - 1) / 2;

export interface Scale {
  readonly channel: TokenChannel;
  /** Values at the ends; what is beyond is as strong as the end. */
  readonly low: number;
  readonly high: number;
  readonly signed: boolean;
  /** All tokens have one value: none of them is an outlier. */
  readonly constant: boolean;
}

/** Signed scales are as wide on both sides of 0, so that equal colours are equal amounts. */
export function scaleOf(channel: TokenChannel, low: number, high: number): Scale {
  const signed = tokenChannels[channel].kind === "signed";
  const most = Math.max(Math.abs(low), Math.abs(high));
  const constant = !(high > low);
  return signed
    ? { channel, low: -most, high: most, signed, constant }
    : { channel, low, high, signed, constant };
}

/** undefined: no value, or one that says nothing. */
export function bucketOf(value: number, { channel, low, high, signed }: Scale): number | undefined {
  if (Number.isNaN(value) || !(high > low)) return undefined;
  const part = Math.min(1, Math.max(0, (value - low) / (high - low)));
  const strong = tokenChannels[channel].kind === "surprise" ? 1 - part : part;
  const bucket = Math.min(bucketCount - 1, Math.floor(strong * bucketCount));
  return bucket === (signed ? middle : 0) ? undefined : bucket;
}

/** Whether a value is at an end of the scale that matters, or beyond. */
export function isOutlier(value: number, { channel, low, high, signed, constant }: Scale): boolean {
  if (Number.isNaN(value) || constant) return false;
  if (tokenChannels[channel].kind === "surprise") return value <= low;
  return value >= high || (signed && value <= low);
}

/** "−4.10 to 0": the values at the ends of the scale. What is small next to the other end is 0. */
export function scaleText({ low, high, signed, constant }: Scale): string {
  if (constant && !signed) return `${formatNumber(low)} everywhere`;
  const least = (high - low) * 1e-3;
  const shown = (value: number): string => formatNumber(Math.abs(value) < least ? 0 : value);
  return `${shown(low)} to ${shown(high)}`;
}
