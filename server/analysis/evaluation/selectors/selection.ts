/** One of several answers to a task, chosen by what is known without its reward: how often that is right. */
import { mean } from "../../../../shared/lib/mean.ts";
import type { Random } from "../../../lib/random.ts";
import { bootstrapMean, type Interval } from "../bootstrap.ts";
import { calibration, type Calibration } from "../calibration.ts";
import type { Choice, SampledAnswer } from "./answer.ts";
import { bestBy, mostLikely } from "./single.ts";
import { majority, pathProbability, rpc } from "./votes.ts";

export interface Selected {
  /** `average` is what a random one of the answers reaches: pass@1. */
  readonly selector: string;
  readonly right: number;
  readonly interval: Interval;
  /** Of what the selector says of its own choice. */
  readonly calibration?: Calibration;
}

export interface Selection {
  /** Tasks with at least two answers. */
  readonly tasks: number;
  /** Answers of a task, at most. */
  readonly answers: number;
  readonly selectors: readonly Selected[];
}

type Selector = (answers: readonly SampledAnswer[]) => Choice;

const average: Selector = (answers) => ({ right: mean(answers.map(({ right }) => Number(right))) });

/**
 * @param terms reward terms that may choose: those that do not decide what is right
 * @returns undefined where no task has two answers
 */
export function selectionOf(
  answered: readonly (readonly SampledAnswer[])[],
  terms: readonly string[],
  random: Random,
): Selection | undefined {
  const tasks = answered.filter(({ length }) => length > 1);
  if (tasks.length === 0) return undefined;
  const selectors: readonly (readonly [string, Selector])[] = [
    ["average", average],
    ["majority", majority],
    ["most_likely", mostLikely],
    ["path_probability", pathProbability],
    ["rpc", rpc],
    ...terms.map((term) => [`best_by/${term}`, bestBy(term)] as const),
  ];
  return {
    tasks: tasks.length,
    answers: Math.max(...tasks.map(({ length }) => length)),
    selectors: selectors.map(([name, select]) => selected(name, tasks.map(select), random)),
  };
}

function selected(selector: string, choices: readonly Choice[], random: Random): Selected {
  const right = choices.map((choice) => choice.right);
  const claims = choices.flatMap((choice) =>
    choice.confidence === undefined ? [] : [{ confidence: choice.confidence, right: choice.right }],
  );
  const found = calibration(claims);
  const interval = bootstrapMean(right, random.fork("selector", selector));
  return {
    selector,
    right: mean(right),
    interval: interval ?? { low: 0, high: 1 },
    ...(found === undefined ? {} : { calibration: found }),
  };
}
