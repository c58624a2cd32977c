/** Held-out success: a greedy answer and `samples` drawn ones for each task, the same tasks and streams every time. */
import { outcome, rowValue, type Algorithm, type DrawnTask, type Scored } from "../algorithm.ts";
import { evaluationReport, type EvaluatedTask } from "../evaluation/passAtK.ts";
import type { RunConfig } from "../config/resolved.ts";
import type { Scorer } from "../scoring.ts";
import type { Batch, Clock, DecodeOptions, EvaluationReport, Models, Policy } from "../seams.ts";
import { constraintsOf } from "./decoding.ts";
import { divided } from "./divide.ts";
import { draftsOf, placesOf, rollOut } from "./generate.ts";

export interface Examination {
  readonly config: RunConfig;
  readonly tasks: readonly DrawnTask[];
  /** Of the top-level blocks, whatever the stage. */
  readonly algorithm: Algorithm;
  readonly scorer: Scorer;
  readonly policy: Policy;
  readonly models: Models;
  readonly signal?: AbortSignal;
  /** Which weights answer; default `policy`. */
  readonly model?: string;
}

/** Rollouts generated at once: bounds the memory of an evaluation with many samples. */
const chunk = 4096;

function decode({ config, policy, signal, model }: Examination, temperature: number): DecodeOptions {
  const { rollout } = config.top;
  return {
    max_tokens: rollout.max_tokens,
    ...constraintsOf(rollout, policy.tokenizer),
    temperature,
    seed: config.seed,
    ...(signal === undefined ? {} : { signal }),
    ...(model === undefined ? {} : { model }),
  };
}

/** Some of the answers to the tasks, scored. */
export interface Answered {
  readonly greedy: boolean;
  readonly batch: Batch;
  readonly scored: Scored;
  /** Per row: the task it answers, by its place among the tasks. */
  readonly task: Int32Array;
}

/** What was seen of each task; the report is made of it. */
export interface Evaluated {
  readonly tasks: readonly EvaluatedTask[];
  readonly report: EvaluationReport;
}

interface Seen {
  readonly arm: string;
  readonly samples: boolean[];
  greedy: boolean | undefined;
  rewards: Record<string, number>;
}

async function score(
  { algorithm, scorer, policy, models, signal }: Examination,
  batch: Batch,
  clock: Clock,
): Promise<Scored> {
  const columns = await scorer.score(batch, {
    models,
    tokenizer: policy.tokenizer,
    clock,
    ...(signal === undefined ? {} : { signal }),
  });
  return algorithm.rewards(columns, batch, clock);
}

/** `count` answers a task, by temperature, a bounded number at once. */
async function* answers(
  exam: Examination,
  count: number,
  temperature: number,
  clock: Clock,
): AsyncGenerator<Answered> {
  const greedy = temperature === 0;
  const places = placesOf(exam.tasks, new Set());
  const key = ["evaluation", greedy ? "greedy" : "sampled"];
  const drafts = draftsOf(places, count, exam.policy, key, "evaluate", exam.config.top.rollout);
  for (let from = 0; from < drafts.length; from += chunk) {
    const some = drafts.slice(from, from + chunk);
    const written = await rollOut(exam.policy, some, decode(exam, temperature));
    const batch = divided(written, exam.config.top.rollout, exam.algorithm, exam.policy.tokenizer);
    const scored = await score(exam, batch, clock);
    const task = Int32Array.from({ length: batch.rows }, (_, row) => Math.floor((from + row) / count));
    yield { greedy, batch, scored, task };
  }
}

/** Terms before their weights, and the combined reward under `total`; what does not exist is left out. */
function rewardsOf({ rewards, combined }: Scored, row: number): Record<string, number> {
  const paid = rewards.terms.map((term): [string, number] => [term.name, rowValue(term, row)]);
  const all: [string, number][] = [["total", combined.total[row]!], ...paid];
  return Object.fromEntries(all.filter(([, value]) => Number.isFinite(value)));
}

/**
 * `eval/pass@k` for each k of `pass_at`, `eval/greedy`, both per arm, and `eval/reward/<term>`.
 * @param keep is given every answer as it comes: nobody else holds them
 */
export async function evaluate(
  exam: Examination,
  clock: Clock,
  keep: (answered: Answered) => void = () => undefined,
): Promise<Evaluated> {
  const { samples, temperature, pass_at } = exam.config.evaluation;
  const seen = exam.tasks.map(({ arm }): Seen => ({ arm, samples: [], greedy: undefined, rewards: {} }));
  for (const [count, heat] of [
    [1, 0],
    [samples, temperature],
  ] as const)
    for await (const answered of answers(exam, count, heat, clock)) {
      keep(answered);
      answered.task.forEach((place, row) => note(seen[place]!, answered, row));
    }
  return { tasks: seen, report: evaluationReport(seen, pass_at) };
}

function note(seen: Seen, { greedy, scored }: Answered, row: number): void {
  const success = scored.success[row];
  const right = success === outcome.unknown ? undefined : success === outcome.right;
  if (!greedy) {
    if (right !== undefined) seen.samples.push(right);
    return;
  }
  seen.greedy = right;
  seen.rewards = rewardsOf(scored, row);
}
