/** What became of every stage's tasks as each stage ended: the numbers of the regression matrix. */
import type { StageEnd } from "../protocol/protocol.ts";

/** Of one stage's tasks: what was measured after each stage, and what it has lost or gained since its own end. */
interface MatrixRow {
  readonly stage: string;
  /** By the ends, in their order; null where it was not measured. */
  readonly values: readonly (number | null)[];
  /** The last value less that of the stage's own end; null before it has ended. */
  readonly change: number | null;
}

/** The measure that the table shows: pass@1 where it was measured, else the greedy answer. */
export function measureOf(ends: readonly StageEnd[]): string {
  const names = new Set(
    ends.flatMap(({ metrics }) => Object.keys(metrics)).flatMap((name) => name.split("/").at(-1) ?? []),
  );
  return names.has("pass@1") ? "pass@1" : ([...names].find((name) => name.startsWith("pass@")) ?? "greedy");
}

export function matrixRows(ends: readonly StageEnd[], measure = measureOf(ends)): MatrixRow[] {
  const ending = `/${measure}`;
  const stages = new Set(
    ends.flatMap(({ metrics }) =>
      Object.keys(metrics)
        .filter((name) => name.startsWith("eval/") && name.endsWith(ending))
        .map((name) => name.slice("eval/".length, -ending.length)),
    ),
  );
  return [...stages].map((stage): MatrixRow => {
    const values = ends.map(({ metrics }) => metrics[`eval/${stage}${ending}`] ?? null);
    const own = ends.findIndex((end) => end.stage === stage);
    const [now, then] = [values.at(-1) ?? null, own < 0 ? null : (values[own] ?? null)];
    return { stage, values, change: now === null || then === null ? null : now - then };
  });
}
