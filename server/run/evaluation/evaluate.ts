/** Held-out success: a greedy answer and `samples` drawn ones for each task, the same tasks and streams every time. */
import { contextOf, type Algorithm } from "../../algorithm/algorithm.ts";
import { create } from "../../core/create.ts";
import { outcome, rowValue, type Scores } from "../../algorithm/rewards/rewards.ts";
import type { DrawnTask } from "../../algorithm/curriculum/draws.ts";
import type { EvaluatedTask, AttemptOutcomes } from "../../analysis/evaluation/types.ts";
import { evaluationReport } from "../../analysis/evaluation/passAtK.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Scorer } from "../../algorithm/rewards/scoring.ts";
import { randomStream } from "../../lib/random.ts";
import type { EpisodeShape } from "../../core/slots/episodes.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { DecodeOptions, Models, Policy } from "../../core/policy.ts";
import type { RewardColumn, RewardContext } from "../../core/reward.ts";
import type { EvaluationReport } from "../../core/evaluation.ts";
import type { EpisodeHosts } from "../environments/episodeHosts.ts";
import type { Harness } from "../harness/harness.ts";
import type { Draft } from "../step/generate/assemble.ts";
import { constraintsOf } from "../step/generate/decoding.ts";
import { divided } from "../step/generate/divide.ts";
import { play } from "../step/generate/episodes.ts";
import { draftsOf } from "../step/generate/generate.ts";
import { namedGroups } from "../../algorithm/curriculum/namedGroups.ts";
import { outcomesOf, type Deciding } from "../step/score/outcomes.ts";

export interface Examination {
  readonly config: RunConfig;
  readonly tasks: readonly DrawnTask[];
  /** Of the top-level blocks, whatever the stage. */
  readonly algorithm: Algorithm;
  readonly scorer: Scorer;
  /** What answers, where the shape asks for an environment. */
  readonly hosts?: EpisodeHosts | undefined;
  /** What plays them, where `rollout.use` says so. */
  readonly harness?: Harness | undefined;
  readonly policy: Policy;
  readonly models: Models;
  readonly signal?: AbortSignal;
  /** Which weights answer; default `policy`. */
  readonly model?: string;
  /** Most answers that are written before `keep` sees them; what is answered does not depend on it. */
  readonly together?: number | undefined;
}

/** Rollouts generated at once: bounds the memory of an evaluation with many samples. */
export const MOST_AT_ONCE = 4096;

function decode({ config, policy, models, signal, model }: Examination, temperature: number): DecodeOptions {
  const { rollout } = config.top;
  return {
    max_tokens: rollout.max_tokens,
    ...constraintsOf(rollout, { tokenizer: policy.tokenizer, models }),
    temperature,
    seed: config.evaluation.seed,
    ...(signal === undefined ? {} : { signal }),
    ...(model === undefined ? {} : { model }),
  };
}

/** Some of the answers to the tasks, scored. */
export interface Answered {
  readonly greedy: boolean;
  readonly batch: Batch;
  readonly scored: Scores;
  /** Terms of `reward.gold`, which are no part of the reward; of greedy answers alone. */
  readonly gold: readonly RewardColumn[];
  /** Per row: the task it answers, by its place among the tasks. */
  readonly task: Int32Array;
  /** Per row, where answers have several attempts: what came of each; undefined where one could not be scored. */
  readonly attempts?: readonly (AttemptOutcomes | undefined)[];
}

/** What was seen of each task; the report is made of it. */
export interface Evaluated {
  readonly tasks: readonly EvaluatedTask[];
  readonly report: EvaluationReport;
}

interface TaskTally {
  readonly arm: string;
  readonly samples: boolean[];
  greedy: boolean | undefined;
  rewards: Record<string, number>;
  attempts: { samples: AttemptOutcomes[]; greedy?: AttemptOutcomes | undefined } | undefined;
}

const contextFor = ({ models, policy, signal }: Examination, clock: Clock): RewardContext => ({
  models,
  tokenizer: policy.tokenizer,
  clock,
  ...(signal === undefined ? {} : { signal }),
});

const decidingOf = (exam: Examination, clock: Clock): Deciding => ({
  algorithm: exam.algorithm,
  scorer: exam.scorer,
  rollout: exam.config.top.rollout,
  context: contextFor(exam, clock),
});

/** Answers to drafts, with as many attempts as any episode may have. */
function answered(
  exam: Examination,
  drafts: readonly Draft[],
  temperature: number,
  clock: Clock,
): Promise<Batch> {
  const { config, policy } = exam;
  const { rollout } = config.top;
  return play(drafts, {
    policy,
    decode: decode(exam, temperature),
    shape: shapeOf(config),
    hosts: exam.hosts,
    harness: exam.harness,
    asking: rollout,
    tries: "most",
    judge: async (batch) => (await outcomesOf(batch, "last", decidingOf(exam, clock))).success,
  });
}

const shapeOf = (config: RunConfig): EpisodeShape =>
  create(
    config.top.rollout.shape,
    contextOf(config.top, { random: randomStream(config.evaluation.seed, "methods") }),
  );

/**
 * What was reached after each attempt that an episode may have: after its last one it stays what it was, so that every evaluation
 * tells of as many. A row with an attempt that could not be scored has none.
 */
async function attemptsOf(
  exam: Examination,
  batch: Batch,
  most: number,
  clock: Clock,
): Promise<(AttemptOutcomes | undefined)[]> {
  const { of, success } = await outcomesOf(batch, "all", decidingOf(exam, clock));
  const found = Array.from({ length: batch.rows }, (): number[] => []);
  of.forEach(({ row }, i) => found[row]!.push(success[i]!));
  return found.map((own) =>
    own.includes(outcome.unknown)
      ? undefined
      : Array.from({ length: most }, (_, i) => own[Math.min(i, own.length - 1)] === outcome.right),
  );
}

/** `count` answers a task, by temperature, a bounded number at once. */
async function* answers(
  exam: Examination,
  count: number,
  temperature: number,
  clock: Clock,
): AsyncGenerator<Answered> {
  const greedy = temperature === 0;
  const places = namedGroups(exam.tasks, new Set());
  const key = ["evaluation", greedy ? "greedy" : "sampled"];
  const { most, plays } = shapeOf(exam.config);
  const drafts = draftsOf(places, count, exam.policy, key, "evaluate", exam.config.top.rollout);
  const { together = MOST_AT_ONCE } = exam;
  for (let from = 0; from < drafts.length; from += together) {
    const some = drafts.slice(from, from + together);
    const written = await answered(exam, some, temperature, clock);
    const batch = divided(written, exam.config.top.rollout, exam.algorithm, exam.policy.tokenizer);
    const context = contextFor(exam, clock);
    const columns = await exam.scorer.score(batch, context);
    const gold = greedy ? await exam.scorer.scoreGold(batch, context) : [];
    const scored = exam.algorithm.rewards(columns, batch, clock);
    // Turns in an environment are no attempts at the task.
    const attempts = plays === undefined && most > 1 && (await attemptsOf(exam, batch, most, clock));
    const task = Int32Array.from({ length: batch.rows }, (_, row) => Math.floor((from + row) / count));
    yield { greedy, batch, scored, gold, task, ...(attempts && { attempts }) };
  }
}

/** Terms before their weights, and the combined reward under `total`; what does not exist is left out. */
function rewardsOf({ scored, gold }: Answered, row: number): Record<string, number> {
  const { rewards, combined } = scored;
  const scores = [...rewards.terms, ...gold].map((term): [string, number] => [
    term.name,
    rowValue(term, row),
  ]);
  const all: [string, number][] = [["total", combined.total[row]!], ...scores];
  return Object.fromEntries(all.filter(([, value]) => Number.isFinite(value)));
}

/**
 * `eval/pass@k` for each k of `pass_at`, `eval/greedy`, both per arm, and `eval/reward/<term>`.
 * @param keep is given every answer as it comes: nothing else holds them
 */
export async function evaluate(
  exam: Examination,
  clock: Clock,
  keep: (answered: Answered) => void = () => undefined,
): Promise<Evaluated> {
  const { samples, temperature, pass_at } = exam.config.evaluation;
  const seen = exam.tasks.map(({ arm }): TaskTally => ({
    arm,
    samples: [],
    greedy: undefined,
    rewards: {},
    attempts: undefined,
  }));
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

function note(seen: TaskTally, answered: Answered, row: number): void {
  const { greedy, scored, attempts } = answered;
  const outcomes = attempts?.[row];
  if (outcomes !== undefined) {
    seen.attempts ??= { samples: [] };
    if (greedy) seen.attempts.greedy = outcomes;
    else seen.attempts.samples.push(outcomes);
  }
  const success = scored.success[row];
  const right = success === outcome.unknown ? undefined : success === outcome.right;
  if (!greedy) {
    if (right !== undefined) seen.samples.push(right);
    return;
  }
  seen.greedy = right;
  seen.rewards = rewardsOf(answered, row);
}
