/** A figure as numbers: panels of lines, or bars, each value with an interval over seeds. */
import { studentT } from "../statistics.ts";
import { standardError } from "../../../server/analysis/simulate/statistics.ts";
import { mean } from "../../../shared/lib/mean.ts";

export interface Value {
  readonly x: number;
  readonly mean: number;
  /** 95 % of Student's t; equal to the mean where there is one seed. */
  readonly low: number;
  readonly high: number;
  readonly seeds: number;
}
export interface Series {
  readonly label: string;
  readonly values: readonly Value[];
}
export interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}
interface Common {
  /** File of docs/images, without `claims-` and its ending. */
  readonly name: string;
  readonly title: string;
  /** What of which paper it draws again. */
  readonly after: string;
  readonly y: string;
}
export type Figure = Common &
  (
    | {
        readonly kind: "lines";
        readonly x: string;
        readonly scale: "linear" | "doubling";
        readonly panels: readonly Panel[];
      }
    | { readonly kind: "bars"; readonly bars: readonly { readonly label: string; readonly value: Value }[] }
  );

export function valueOf(x: number, values: readonly number[]): Value {
  const centre = mean(values);
  const half = values.length < 2 ? 0 : studentT(0.95, values.length - 1) * standardError(values);
  return { x, mean: centre, low: centre - half, high: centre + half, seeds: values.length };
}

const number = (value: number): string => value.toFixed(3);
export const words = ({ mean, low, high, seeds }: Value): string =>
  `${number(mean)} (${number(low)} to ${number(high)}), ${seeds} ${seeds === 1 ? "seed" : "seeds"}`;

/** The numbers, a line a value. */
export function listed(figure: Figure): string {
  if (figure.kind === "bars")
    return figure.bars.map(({ label, value }) => `${label}: ${words(value)}`).join("\n");
  return figure.panels
    .flatMap(({ title, series }) =>
      series.flatMap(({ label, values }) =>
        values.map(
          (value) =>
            `${[title, label].filter((one) => one !== "").join(", ")}, ${figure.x} ${value.x}: ${words(value)}`,
        ),
      ),
    )
    .join("\n");
}
