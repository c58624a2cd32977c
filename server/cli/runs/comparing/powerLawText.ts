/** A power law over runs, in a few lines. */
import type { PowerLawReport } from "../../../analysis/compare/powerLaw.ts";

const digits = (value: number): string => value.toFixed(3);

export function powerLawLines({ path, metric, points, fit, gap }: PowerLawReport): string[] {
  const lines = points.map(({ x, y }) => `  X = ${x}  ${digits(y)}`);
  const law =
    fit === null
      ? "  There is no fit: it needs results above 0 at two different X."
      : `  ${metric} ≈ ${digits(fit.alpha)}·X^${digits(fit.beta)}${fit.r_squared === null ? "" : `, R² ${digits(fit.r_squared)} in logarithms`}`;
  const more =
    gap === null
      ? []
      : [
          `  Without X = 1 the fit says ${digits(Math.abs(gap))} ${gap < 0 ? "less" : "more"} than was reached there.`,
        ];
  return ["", `Power law of ${metric} over ${path}`, ...lines, law, ...more];
}
