/** How values lie on the axes: as they are, or by their size. Pure. */
import type { ChartModel } from "../../shared/chartModel.ts";

export const scaleKinds = ["linear", "log", "symlog"] as const;
export type ScaleKind = (typeof scaleKinds)[number];

/** Of the largest value, what a symlog axis draws linearly around 0. */
const linearShare = 1e-3;

export interface Scale {
  readonly apply: (model: ChartModel) => ChartModel;
}

/**
 * Areas add up and shares have fixed limits: both stay linear. A logarithm needs values above 0: a chart that has others
 * is drawn as symlog, and linear below a thousandth of its largest value, rounded to a power of ten.
 */
export const scaleOf = (kind: ScaleKind): Scale => ({
  apply: (model) => {
    const fits = model.limits === null && model.lines.every(({ style }) => style === "line");
    if (kind === "linear" || !fits || model.empty !== null) return model;
    let [least, most] = [Number.POSITIVE_INFINITY, 0];
    for (const { values, band, spread } of model.lines)
      for (const column of [values, band?.low, spread?.low])
        for (const value of column ?? []) {
          if (value === null || !Number.isFinite(value)) continue;
          least = Math.min(least, value);
          most = Math.max(most, Math.abs(value));
        }
    if (!(most > 0)) return model;
    if (kind === "log" && least > 0) return { ...model, scale: { kind: "log" } };
    return { ...model, scale: { kind: "symlog", linear: 10 ** Math.floor(Math.log10(most * linearShare)) } };
  },
});
