/** Which stretches of a document have which look: colours of a channel, what does not train, what a term scored. Pure. */
import { origin } from "../../../../shared/rollouts/fields.ts";
import { bucketCount, bucketOf, isOutlier } from "./buckets.ts";
import type { HeatChannel, Stretch, TokenMap } from "./tokenMap.ts";

/** Neighbours of one look become one stretch: an editor draws each by itself. */
class Joined {
  readonly stretches: Stretch[] = [];

  add(found: readonly Stretch[]): void {
    for (const one of found) {
      const last = this.stretches.at(-1);
      if (last?.line === one.line && last.to >= one.from)
        this.stretches[this.stretches.length - 1] = { ...last, to: Math.max(last.to, one.to) };
      else this.stretches.push(one);
    }
  }
}

/** By bucket, of the tokens [from, to) that the policy generated. */
export function heatOf(map: TokenMap, { values, scale }: HeatChannel, from: number, to: number): Stretch[][] {
  const buckets = Array.from({ length: bucketCount }, () => new Joined());
  for (let token = from; token < to; token++) {
    if (map.origin[token] !== origin.written) continue;
    const bucket = bucketOf(values[token]!, scale);
    if (bucket !== undefined) buckets[bucket]!.add(map.stretches(token));
  }
  return buckets.map(({ stretches }) => stretches);
}

/** What is not trained on: observed, prefilled, and generated but masked. */
export function unusedOf(
  map: TokenMap,
  from: number,
  to: number,
): Readonly<Record<"observed" | "given" | "masked", Stretch[]>> {
  const found = { observed: new Joined(), given: new Joined(), masked: new Joined() };
  for (let token = from; token < to; token++) {
    const kind = map.origin[token];
    if (kind === origin.observed) found.observed.add(map.stretches(token));
    else if (kind === origin.given) found.given.add(map.stretches(token));
    else if (map.mask[token] === 0) found.masked.add(map.stretches(token));
  }
  return {
    observed: found.observed.stretches,
    given: found.given.stretches,
    masked: found.masked.stretches,
  };
}

/** Tokens at the ends of the scale, in order. */
export function outliersOf(map: TokenMap, { values, scale }: HeatChannel): number[] {
  const found: number[] = [];
  for (let token = 0; token < values.length; token++)
    if (map.origin[token] === origin.written && isOutlier(values[token]!, scale)) found.push(token);
  return found;
}

/** The next one after a token, or before it; around the ends. */
export function nextOf(outliers: readonly number[], token: number, forward: boolean): number | undefined {
  return forward
    ? (outliers.find((one) => one > token) ?? outliers[0])
    : (outliers.findLast((one) => one < token) ?? outliers.at(-1));
}
