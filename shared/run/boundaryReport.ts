/** Two recorded evaluations at the boundary of what their models can do, as it is sent, and in words. */
import { formatFraction, plural } from "../lib/format.ts";
import type { Boundary } from "./boundary.ts";

/** An evaluation that a run recorded, by the step that it came after. */
export interface EvaluatedAt {
  readonly run: string;
  readonly step: number;
}

export interface BoundaryReport {
  readonly own: EvaluatedAt;
  /** What the own one is compared with. */
  readonly other: EvaluatedAt;
  /** Of the same runs, all evaluations that say how each task went. */
  readonly evaluations: readonly EvaluatedAt[];
  /** null: they have no task in common that both answered at least twice. */
  readonly boundary: MeasuredBoundary | null;
  /** By greedy answers: what the own one has right and the other not, and the other way round; null: no task in common. */
  readonly greedy: { readonly learned: readonly string[]; readonly forgotten: readonly string[] } | null;
}

export interface MeasuredBoundary extends Boundary {
  /** In which share of draws of the tasks the curves cross. */
  readonly crossing_share: number;
}

/** What the two are called, in the order of the report. */
interface Names {
  readonly own: string;
  readonly other: string;
}

/** "Within 8 samples both solve 424 of 512 tasks, B alone 1, A alone 78, neither 9." */
export function solvedSentence(
  { samples, tasks, support }: Pick<Boundary, "samples" | "tasks" | "support">,
  { own, other }: Names,
): string {
  const { preserved, expanded, shrunk, unsolved } = support;
  return `Within ${plural(samples, "sample")} both solve ${preserved.length} of ${plural(tasks, "task")}, ${own} alone ${expanded.length}, ${other} alone ${shrunk.length}, neither ${unsolved.length}.`;
}

/** "The curves cross at k = 7, in 100 % of draws of the tasks: from there on A solves more." */
export function crossingSentence(
  { samples, curve, crossing, crossing_share }: MeasuredBoundary,
  { own, other }: Names,
): string {
  const often = `in ${formatFraction(crossing_share)} of draws of the tasks`;
  if (crossing === null)
    return `The curves do not cross within ${plural(samples, "sample")}; they do ${often}.`;
  const first = curve[0]!;
  return `The curves cross at k = ${crossing}, ${often}: from there on ${first.own < first.other ? own : other} solves more.`;
}

/** "By greedy answers B has 12 tasks right that A has not, and has forgotten 7." */
export const greedySentence = (
  { learned, forgotten }: NonNullable<BoundaryReport["greedy"]>,
  { own, other }: Names,
): string =>
  `By greedy answers ${own} has ${plural(learned.length, "task")} right that ${other} has not, and has forgotten ${forgotten.length}.`;
