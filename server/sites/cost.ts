/** What a run is going to take, by the steps that were measured before it, and what it took. */
import { quantile } from "../../shared/lib/quantile.ts";
import type { Band } from "../../shared/run/forecast.ts";
import type { SiteConfig } from "./siteConfig.ts";

export interface CostAsk {
  /** Steps that the run makes. */
  readonly steps: number;
  /** Seconds of each step that was measured, in their order. */
  readonly measured: readonly number[];
  /** Where they were measured: a run's id. */
  readonly by: string | undefined;
  readonly gpus: number;
  readonly price: SiteConfig["price"];
  /** Tokens that a step may generate at most: prompts × group × the longest response. */
  readonly mostTokens: number;
  /** Tokens that the measured steps generated on average. */
  readonly tokens?: number | undefined;
}

export interface CostEstimate {
  readonly steps: number;
  readonly by: string | null;
  /** Seconds of the whole run; null: nothing was measured. */
  readonly seconds: Band | null;
  readonly gpuHours: Band | null;
  /** null: nothing was measured, or the site has no price. */
  readonly money: (Band & { readonly currency: string }) | null;
  readonly tokens: { readonly expected: number | null; readonly most: number };
}

/** The first step loads and compiles, so it is of the run and of no other step. */
const warmUp = 1;
/** Below that many steps a spread says nothing. */
const least = 3;

/**
 * Steps × the 10 %, 50 % and 90 % quantiles of a step's seconds: as wide as steps differ, because what makes them differ,
 * the length of responses, changes as training goes on. Sums of independent steps would have a band that is far too narrow.
 */
export function estimateCost({
  steps,
  measured,
  by,
  gpus,
  price,
  mostTokens,
  tokens,
}: CostAsk): CostEstimate {
  const warm = measured.length > least + warmUp ? measured.slice(warmUp) : measured;
  const seconds = warm.length < least ? null : times(quantiles(warm), steps);
  const gpuHours = seconds === null || gpus === 0 ? null : times(seconds, gpus / 3600);
  return {
    steps,
    by: by ?? null,
    seconds,
    gpuHours,
    money:
      gpuHours === null || price === undefined
        ? null
        : { ...times(gpuHours, price.gpu_hour), currency: price.currency },
    tokens: { expected: tokens === undefined ? null : tokens * steps, most: mostTokens * steps },
  };
}

const times = ({ low, middle, high }: Band, factor: number): Band => ({
  low: low * factor,
  middle: middle * factor,
  high: high * factor,
});

function quantiles(values: readonly number[]): Band {
  const sorted = values.toSorted((a, b) => a - b);
  return { low: quantile(sorted, 0.1), middle: quantile(sorted, 0.5), high: quantile(sorted, 0.9) };
}

/** Two significant digits: no estimate knows more. */
const short = (value: number): string => {
  const rounded = Number(value.toPrecision(2));
  return rounded >= 100 ? String(Math.round(rounded)) : String(rounded);
};
const between = ({ low, high }: Band): string =>
  short(low) === short(high) ? short(low) : `${short(low)} to ${short(high)}`;
const large = (count: number): string =>
  count >= 1e9
    ? `${short(count / 1e9)} G`
    : count >= 1e6
      ? `${short(count / 1e6)} M`
      : count >= 1e4
        ? `${short(count / 1e3)} k`
        : short(count);
const unitOf = (seconds: number): readonly [number, string] =>
  seconds < 120 ? [1, "s"] : seconds < 2 * 3600 ? [60, "min"] : [3600, "h"];

/** One line a fact, as the dry run prints them. */
export function costLines({ steps, seconds, gpuHours, money, tokens, by }: CostEstimate): string[] {
  const generated =
    tokens.expected === null
      ? `at most ${large(tokens.most)} tokens`
      : `about ${large(tokens.expected)} tokens (at most ${large(tokens.most)})`;
  if (seconds === null)
    return [
      `${steps} steps, ${generated}`,
      "no step was measured on this site yet: run a few with --steps 5, then ask again",
    ];
  const [unit, name] = unitOf(seconds.middle);
  const parts = [`${between(times(seconds, 1 / unit))} ${name}`];
  if (gpuHours !== null) parts.push(`${between(gpuHours)} GPU hours`);
  if (money !== null) parts.push(`${between(money)} ${money.currency}`);
  return [`${steps} steps, ${generated}`, `${parts.join(", ")}, by the steps of ${by ?? "an earlier run"}`];
}

/** What a run took, next to what was expected: "57 s, 0.13 GPU hours, 0.25 USD; expected 45 to 70 s". */
export function tookText(
  seconds: number,
  { gpus, price }: Pick<CostAsk, "gpus" | "price">,
  estimate: Pick<Band, "low" | "high"> | undefined,
): string {
  const [unit, name] = unitOf(seconds);
  const hours = (seconds * gpus) / 3600;
  const parts = [`${short(seconds / unit)} ${name}`];
  if (gpus > 0) parts.push(`${short(hours)} GPU hours`);
  if (gpus > 0 && price !== undefined) parts.push(`${short(hours * price.gpu_hour)} ${price.currency}`);
  if (estimate === undefined) return parts.join(", ");
  const expected = { low: estimate.low / unit, middle: 0, high: estimate.high / unit };
  return `${parts.join(", ")}; expected ${between(expected)} ${name}`;
}
