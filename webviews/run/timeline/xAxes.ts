/** What the lanes' common axis can count: steps, training time, tokens, samples. Pure. */
import { firstWhere } from "../../../shared/lib/firstWhere.ts";
import { formatNumber, formatSeconds } from "../../../shared/lib/format.ts";
import type { RunSeries } from "../../shared/series.ts";
import { bySteps, type XAxis } from "../../shared/xAxis.ts";

export const xKinds = ["step", "time", "tokens", "samples"] as const;
export type XKind = (typeof xKinds)[number];

const counted: Readonly<
  Record<Exclude<XKind, "step">, { metric: string; name: string; format: XAxis["format"] }>
> = {
  time: { metric: "time/total", name: "training time", format: (x) => (x === 0 ? "0" : formatSeconds(x)) },
  tokens: { metric: "tokens/generated", name: "tokens generated", format: brief },
  samples: { metric: "rollout/count", name: "rollouts", format: brief },
};

/** 1.2M, 12k: room is short below a chart. */
function brief(x: number): string {
  for (const [size, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const)
    if (x >= size) return `${Number((x / size).toPrecision(3))}${letter}`;
  return formatNumber(x);
}

/** Kinds that the run has recorded. */
export const kindsOf = (series: RunSeries): readonly XKind[] =>
  xKinds.filter((kind) => kind === "step" || series.column(counted[kind].metric).steps.length > 1);

/** Between recorded steps in proportion; before the first and after the last, as one step of the mean. */
export function xAxisOf(kind: XKind, series: RunSeries): XAxis {
  if (kind === "step") return bySteps;
  const { metric, name, format } = counted[kind];
  const { steps, values } = series.sums(metric);
  const [first, last, sum] = [steps[0], steps.at(-1), values.at(-1)];
  if (first === undefined || last === undefined || sum === undefined || !(sum > 0)) return bySteps;
  const mean = sum / Math.max(1, last - first + 1);
  const spot = (from: readonly number[], to: readonly number[], at: number): number => {
    const after = firstWhere(from.length, (i) => from[i]! > at);
    const [low, high] = [after - 1, after];
    const share = (at - from[low]!) / (from[high]! - from[low]!);
    return to[low]! + share * (to[high]! - to[low]!);
  };
  return {
    name,
    format,
    of: (step) =>
      step < first
        ? Math.max(0, values[0]! - (first - step) * mean)
        : step >= last
          ? sum + (step - last) * mean
          : spot(steps, values, step),
    at: (x) =>
      x < values[0]!
        ? first - (values[0]! - x) / mean
        : x >= sum
          ? last + (x - sum) / mean
          : spot(values, steps, x),
  };
}
