/** pass@k of two evaluations as a chart over k, and the lists of what one of them solves and the other does not. Pure. */
import type { BoundaryReport, MeasuredBoundary } from "../../shared/run/boundaryReport.ts";
import type { ChartLine, ChartModel } from "../shared/chartModel.ts";
import type { Mark } from "../shared/plot.ts";
import type { XAxis } from "../shared/xAxis.ts";

/** What the two evaluations are called. */
export interface Sides {
  readonly own: string;
  readonly other: string;
}

/** k doubles from one label to the next. */
export const bySamples: XAxis = {
  name: "k, samples",
  of: (k) => Math.log2(k),
  at: (x) => 2 ** x,
  format: (x) => String(Math.round(2 ** x)),
  least: 1,
};

export function boundaryModel({ curve }: MeasuredBoundary, { own, other }: Sides): ChartModel {
  const line = (name: string, tone: number, values: readonly number[]): ChartLine => ({
    ...{ name, tone, dash: tone, values, raw: values },
    ...{ style: "points", format: "fraction", axis: "left" },
  });
  return {
    steps: curve.map(({ k }) => k),
    counted: "k",
    lines: [
      line(
        other,
        0,
        curve.map((at) => at.other),
      ),
      line(
        own,
        1,
        curve.map((at) => at.own),
      ),
    ],
    limits: null,
    least: 0.1,
    empty: null,
  };
}

export const crossingMarks = ({ crossing }: MeasuredBoundary): readonly Mark[] =>
  crossing === null ? [] : [{ step: crossing, name: `cross at k = ${crossing}` }];

export interface TaskList {
  readonly id: "gained" | "lost" | "forgotten";
  /** On its button. */
  readonly label: string;
  readonly why: string;
  readonly tasks: readonly string[];
}

export function taskLists(report: BoundaryReport, { own, other }: Sides): readonly TaskList[] {
  const { boundary, greedy } = report;
  const within = boundary === null ? "" : ` within ${boundary.samples} samples`;
  return [
    ...(boundary === null
      ? []
      : ([
          {
            id: "gained",
            label: "Gained",
            why: `${own} alone solves them${within}`,
            tasks: boundary.support.expanded,
          },
          {
            id: "lost",
            label: "Lost",
            why: `${other} alone solves them${within}`,
            tasks: boundary.support.shrunk,
          },
        ] as const)),
    ...(greedy === null
      ? []
      : ([
          {
            id: "forgotten",
            label: "Forgotten",
            why: `the greedy answer of ${other} is right, that of ${own} is not`,
            tasks: greedy.forgotten,
          },
        ] as const)),
  ];
}
