/** Held-out measures of episodes of several attempts. */
import type { AttemptOutcomes } from "./types.ts";
import { mean } from "../../../shared/lib/mean.ts";
import type { EvaluatedTask, Measure } from "./types.ts";

const rightAfter = (outcomes: AttemptOutcomes, k: number): boolean => outcomes[k - 1] === true;

/** A share of a task's drawn answers. */
const shareOf =
  (counts: (outcomes: AttemptOutcomes) => boolean): Measure =>
  ({ attempts }) =>
    attempts === undefined || attempts.samples.length === 0
      ? undefined
      : mean(attempts.samples.map((outcomes) => Number(counts(outcomes))));

/** Success after each number of attempts, and what the attempts after the first fixed and broke. */
export function attemptMeasures(tasks: readonly EvaluatedTask[]): [string, Measure][] {
  const answers = tasks.flatMap(({ attempts }) =>
    attempts === undefined ? [] : [...attempts.samples, ...(attempts.greedy ? [attempts.greedy] : [])],
  );
  if (answers.length === 0) return [];
  const most = Math.max(...answers.map(({ length }) => length));
  const after = Array.from({ length: most }, (_, i): [string, Measure][] => [
    [`eval/attempt_${i + 1}/pass@1`, shareOf((outcomes) => rightAfter(outcomes, i + 1))],
    [
      `eval/attempt_${i + 1}/greedy`,
      ({ attempts }) =>
        attempts?.greedy === undefined ? undefined : Number(rightAfter(attempts.greedy, i + 1)),
    ],
  ]);
  const first = (outcomes: AttemptOutcomes): boolean => rightAfter(outcomes, 1);
  const last = (outcomes: AttemptOutcomes): boolean => rightAfter(outcomes, most);
  const [repaired, spoiled] = [
    shareOf((outcomes) => !first(outcomes) && last(outcomes)),
    shareOf((outcomes) => first(outcomes) && !last(outcomes)),
  ];
  return [
    ...after.flat(),
    ["eval/attempts/mended", repaired],
    ["eval/attempts/spoiled", spoiled],
    [
      "eval/attempts/gain",
      (task) => {
        const [up, down] = [repaired(task), spoiled(task)];
        return up === undefined || down === undefined ? undefined : up - down;
      },
    ],
  ];
}
