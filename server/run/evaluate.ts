/** Held-out success: a greedy answer and `samples` drawn ones for each task, the same tasks and streams every time. */
import { outcome, type Algorithm, type DrawnTask } from "../algorithm.ts";
import { evaluationReport, type EvaluatedTask } from "../evaluation/passAtK.ts";
import type { RunConfig } from "../config/resolved.ts";
import type { Scorer } from "../scoring.ts";
import type { Batch, Clock, DecodeOptions, EvaluationReport, Models, Policy } from "../seams.ts";
import { constraintsOf } from "./decoding.ts";
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

/** Per row of the batch: right, wrong, or unknown where the deciding term failed. */
async function judge(
  { algorithm, scorer, policy, models, signal }: Examination,
  batch: Batch,
  clock: Clock,
): Promise<Uint8Array> {
  const columns = await scorer.score(batch, {
    models,
    tokenizer: policy.tokenizer,
    clock,
    ...(signal === undefined ? {} : { signal }),
  });
  return algorithm.rewards(columns, batch, clock).success;
}

/** `count` answers a task, by temperature; one list of outcomes per task, unknown ones left out. */
async function answers(
  exam: Examination,
  count: number,
  temperature: number,
  clock: Clock,
): Promise<boolean[][]> {
  const places = placesOf(exam.tasks, new Set());
  const drafts = draftsOf(
    places,
    count,
    exam.policy,
    ["evaluation", temperature === 0 ? "greedy" : "sampled"],
    "evaluate",
    exam.config.top.rollout.prefix,
  );
  const results: boolean[][] = exam.tasks.map(() => []);
  for (let from = 0; from < drafts.length; from += chunk) {
    const batch = await rollOut(exam.policy, drafts.slice(from, from + chunk), decode(exam, temperature));
    const success = await judge(exam, batch, clock);
    success.forEach((value, row) => {
      if (value !== outcome.unknown) results[Math.floor((from + row) / count)]!.push(value === outcome.right);
    });
  }
  return results;
}

/** `eval/pass@k` for each k of `pass_at`, `eval/greedy`, and both per arm. */
export async function evaluate(exam: Examination, clock: Clock): Promise<EvaluationReport> {
  const { samples, temperature, pass_at } = exam.config.evaluation;
  const greedy = await answers(exam, 1, 0, clock);
  const sampled = await answers(exam, samples, temperature, clock);
  const tasks = exam.tasks.map(({ arm }, i): EvaluatedTask => ({
    arm,
    samples: sampled[i]!,
    greedy: greedy[i]![0],
  }));
  return evaluationReport(tasks, pass_at);
}
