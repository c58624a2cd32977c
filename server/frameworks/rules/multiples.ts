/** Whole numbers that divide one another, and the nearest that do. */
import type { Fix } from "../../config/check/diagnostic.ts";
import type { Setting } from "../text/document.ts";
import { changeTo } from "./fix.ts";

export const gcd = (a: number, b: number): number => (b === 0 ? Math.abs(a) : gcd(b, a % b));
export const lcm = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : Math.abs(a * b) / gcd(a, b));

/** The multiples of a positive number on both sides of another, from `least` on, nearest first. */
export function multiplesAround(value: number, of: number, least = of): number[] {
  const below = Math.floor(value / of) * of;
  return [below, below + of]
    .filter((one) => one >= least && one > 0)
    .sort((a, b) => Math.abs(a - value) - Math.abs(b - value));
}

/** The divisors of a number next to another on both sides, from `least` on, nearest first. */
export function divisorsAround(value: number, of: number, least = 1): number[] {
  const divisors = Array.from({ length: Math.min(of, 1 << 16) }, (_, i) => i + 1).filter(
    (one) => of % one === 0 && one >= least,
  );
  const below = divisors.filter((one) => one < value).at(-1);
  const above = divisors.find((one) => one > value);
  return [below, above]
    .filter((one) => one !== undefined)
    .sort((a, b) => Math.abs(a - value) - Math.abs(b - value));
}

/** Fixes of one setting, each with its arithmetic; none if the file does not set it. */
export function changes(
  setting: Setting | undefined,
  values: readonly number[],
  arithmetic: (value: number) => string = () => "",
): Fix[] {
  if (setting === undefined) return [];
  return values.flatMap((value) => {
    const shown = arithmetic(value);
    const title = `Change \`${setting.key}\` to ${value}${shown === "" ? "" : `: ${shown}`}`;
    return changeTo(setting, value, title, values.length === 1);
  });
}
