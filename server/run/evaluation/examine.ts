/** A model from anywhere, measured on a config's held-out tasks: what `gradus evaluate` does. */
import { Algorithm } from "../../algorithm/algorithm.ts";
import { modelsOfRollouts } from "../../algorithm/loss/modelsRead.ts";
import type { TrainablePolicy } from "../../engine/index.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { episodeTokens } from "../../core/config/shapeFacts.ts";
import {
  probed,
  probeReport,
  type EvaluationProbe,
  type ProbeReport,
} from "../../analysis/evaluation/probes.ts";
import { taskResults } from "../../analysis/evaluation/taskResults.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { TaskResults } from "../../../shared/run/taskResults.ts";
import { scoredBy } from "./scoredBy.ts";
import type { Clock } from "../../core/basics.ts";
import { randomStream } from "../../lib/random.ts";
import { openCheckpoint } from "../checkpoint/checkpoints.ts";
import { EvaluationProgress } from "./evaluationProgress.ts";
import { togetherOf } from "./evaluationSize.ts";
import { evaluate, MOST_AT_ONCE, type Answered, type Evaluated, type Examination } from "./evaluate.ts";
import { openModels } from "../models/models.ts";
import { StageComponents } from "../loop/stageComponents.ts";
import { ServedRun } from "../harness/servedRun.ts";
import { evaluationTasks } from "../../algorithm/curriculum/evaluationTasks.ts";

export interface Examined extends Evaluated {
  readonly probes: readonly ProbeReport[];
  /** Task by task, by id. */
  readonly results: TaskResults;
  /** Mean log-probs of the answers that were to be scored; undefined: they are not of this model's tokens, or too long. */
  readonly scored: readonly number[] | undefined;
}

export interface ExamineOptions {
  /** Is given every answer to the tasks themselves. */
  readonly keep?: (answered: Answered) => void;
  /** Ask the tasks again, with something supplied or in parts. */
  readonly probes?: readonly EvaluationProbe[];
  /** Is given a sentence every ten seconds: how many answers are there, and how long the rest takes. */
  readonly report?: (message: string) => void;
  /** Answers of another model, to be scored by this one. */
  readonly score?: readonly Batch[];
}

const clock: Clock = { step: 0, stageStep: 0 };

async function probedBy(probe: EvaluationProbe, exam: Examination, plain: Evaluated): Promise<ProbeReport> {
  const found = probed(
    probe,
    exam.tasks.map(({ task }) => task),
  );
  if (found.length === 0)
    throw new UserError(
      `None of the ${exam.tasks.length} held-out tasks has a field ${probe.field} to probe with.`,
      {
        code: "probe-field",
        action:
          "Name a field of the tasks' data: a text to supply, or a list of `{ prompt, answer }`, the parts of the task.",
      },
    );
  const { arm } = exam.tasks[0]!;
  const asked = found.flatMap(({ place, asked }) =>
    asked.map((task) => ({ task, arm: exam.tasks[place]?.arm ?? arm })),
  );
  const { tasks } = await evaluate({ ...exam, tasks: asked }, clock);
  const { seed, evaluation } = exam.config;
  return probeReport(probe, found, tasks, plain.tasks, evaluation.pass_at, randomStream(seed, "bootstrap"));
}

/** Rewards may read the policy as it was before training, which nobody knows here: the model itself is in its place. */
async function ownReference(
  { top }: RunConfig,
  policy: TrainablePolicy,
  report: ExamineOptions["report"],
): Promise<void> {
  if (!modelsOfRollouts(top).includes("reference")) return;
  report?.(
    "A reward or the decoding reads `reference`, the policy before training. Here it is the evaluated model itself.",
  );
  await policy.snapshot("reference");
}

/**
 * Opens the model, answers the tasks and closes it. The tasks and the draws follow from the config and its seed alone:
 * two models are asked the same.
 * @param path folder or file with the weights
 * @throws UserError where the model cannot be opened, or a reward cannot be loaded
 */
export async function examine(
  path: string,
  config: RunConfig,
  { keep, probes = [], report, score = [] }: ExamineOptions = {},
): Promise<Examined> {
  const policy = await openCheckpoint(path, config.seed, {
    answers: Math.min(MOST_AT_ONCE, config.evaluation.prompts * Math.max(1, config.evaluation.samples)),
    max_tokens: episodeTokens(config.top.rollout),
    config,
  });
  const models = await openModels(config, policy);
  await ownReference(config, policy, report);
  const components = new StageComponents({
    random: randomStream(config.seed, "methods"),
    models,
    tokenizer: policy.tokenizer,
    server: new ServedRun({ program: process.argv[1] ?? "", target: path }),
  });
  try {
    const context = components.context(config.top);
    const scorer = components.scorer(config.top);
    await scorer.prepare();
    const hosts = components.hosts(config.top);
    await hosts?.prepare();
    const harness = components.harness(config.top);
    const tasks = evaluationTasks(config, context);
    const algorithm = new Algorithm(config.top, context);
    const together = togetherOf(config);
    const exam = { config, tasks, algorithm, scorer, hosts, harness, policy, models, together };
    const total = tasks.length * (1 + config.evaluation.samples);
    const progress = new EvaluationProgress(total, ({ message }) => report?.(message));
    const plain = await evaluate(exam, clock, (answered) => {
      keep?.(answered);
      progress.add(answered.batch.rows);
    });
    const reports: ProbeReport[] = [];
    for (const probe of probes) reports.push(await probedBy(probe, exam, plain));
    return {
      ...plain,
      probes: reports,
      results: taskResults(
        tasks.map(({ task }) => task.id),
        plain.tasks,
        config.top.reward.gold,
      ),
      scored: await scoredBy(policy, score),
    };
  } finally {
    await components.close();
    models.close();
  }
}
