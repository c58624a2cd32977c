import type { Band } from "../../../../shared/run/forecast.ts";
import type { Ahead, ForecastReport } from "../../../../shared/run/forecastReport.ts";
import { duration, fixed } from "../../text/terminal.ts";

type NamedForecast = ForecastReport & { readonly run: string };

const range = ({ low, high }: Band, digits = 3): string => `[${fixed(low, digits)}, ${fixed(high, digits)}]`;
const banded = (band: Band, digits = 3): string => `${fixed(band.middle, digits)} ${range(band, digits)}`;
/** "+0.04 ± 0.02": half of the band's width. */
const gained = ({ low, middle, high }: Band): string =>
  `${middle < 0 ? "−" : "+"}${fixed(Math.abs(middle))} ± ${fixed((high - low) / 2)}`;

function ahead(what: string, { steps, seconds, score, gain }: Ahead): string {
  const time = seconds === null ? "" : `, ${duration(seconds)}`;
  return `  ${what} (${steps} steps${time}): ${gained(gain)}, to ${banded(score)}`;
}

/** @param above of each run the chance that the first ends higher; null: it is the first */
export function forecastLines(runs: readonly NamedForecast[], above: readonly (number | null)[]): string[] {
  const [first] = runs;
  return [
    `${first?.metric ?? ""} as a sigmoid of the steps; in brackets the band that has the truth in 80 % of cases`,
    ...runs.flatMap((run, i) => {
      const { made, now, asymptote, midpoint, efficiency, planned, further } = run;
      const other = above[i] ?? null;
      return [
        "",
        run.run,
        `  now (step ${made}) ${banded(now)}, ends at ${banded(asymptote)}`,
        `  half way at step ${banded(midpoint, 0)}, efficiency B ${banded(efficiency, 1)}`,
        ...(planned === null ? [] : [ahead("to its planned end", planned)]),
        ahead("further", further),
        ...(other === null
          ? []
          : [`  ends higher than ${first!.run} with probability ${fixed(1 - other, 2)}`]),
      ];
    }),
  ];
}
