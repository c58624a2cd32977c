/** `gradus run --dry-run`: one step on two prompts, in the caller's process, kept nowhere. */
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import { goldFormOf } from "../../analysis/rewardChecks/gold.ts";
import type { GoldForm } from "../../analysis/rewardChecks/forms/goldForms.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import { admitMemory, planMemory } from "../../analysis/memory/estimate.ts";
import { methodOf } from "../../methods/index.ts";
import { randomStream } from "../../lib/random.ts";
import { Scorer } from "../../algorithm/rewards/scoring.ts";
import { byHarness } from "../../core/config/shapeFacts.ts";
import type { Clock } from "../../core/basics.ts";
import { status, type RewardColumn } from "../../core/reward.ts";
import type { Batch } from "../../core/rollouts.ts";
import { draftsOf } from "../step/generate/generate.ts";
import { namedGroups } from "../../algorithm/curriculum/namedGroups.ts";
import { generate } from "../step/generate/stepRollouts.ts";
import { dividedIn } from "../step/generate/divide.ts";
import { beginning } from "./loop.ts";
import { openModels } from "../models/models.ts";
import { emptyAnswerWarnings, probeBatch, probed, type EvaluationProbe } from "../evaluation/probe.ts";
import { nowhere, Recorder, type Appended } from "../step/log/recorder.ts";
import { Stopwatch } from "../step/stopwatch.ts";
import { episodesOf, servedAsItIs, type DryEpisode } from "./dryHarness.ts";
import { FailedSteps } from "./failedSteps.ts";
import { rewardContext, type Session } from "./session.ts";
import { Trainer } from "./trainer.ts";

export interface TermTiming {
  readonly term: string;
  /** Once, before the first call: bundling and loading user code. */
  readonly prepare_seconds: number;
  readonly seconds_per_rollout: number;
  readonly mean: number | null;
  readonly errors: readonly string[];
}
export interface DryRun {
  readonly backend: { readonly name: string; readonly reason: string; readonly device: string };
  readonly parameters: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly rewards: readonly TermTiming[];
  /** What the reward gives a few answers that cost no thought; empty without a reward. */
  readonly probes: readonly EvaluationProbe[];
  /** What is wrong with the probes' rewards. */
  readonly warnings: readonly string[];
  readonly rollouts: readonly {
    readonly prompt: string;
    readonly response: string;
    readonly reward: unknown;
  }[];
  /** What a harness's program did; absent: the engine played. */
  readonly episodes?: readonly DryEpisode[];
  readonly memory: {
    /** Of the whole run, at its peak. */
    readonly predicted_bytes: number;
    /** What it may take: engine.memory, or a share of the machine's. */
    readonly limit_bytes: number;
    readonly resident_bytes: number;
    readonly parts: Readonly<Record<string, number>>;
  };
}

/** The last step of a stage, and how many steps of rl the stages up to there have. */
function lastClock({ stages }: RunConfig, name: string): Clock {
  const index = stages.findIndex((stage) => stage.name === name);
  const steps = stages
    .slice(0, index + 1)
    .reduce((sum, stage) => sum + (stage.kind === "rl" ? stage.steps : 0), 0);
  return { step: Math.max(0, steps - 1), stageStep: Math.max(0, (stages[index]?.steps ?? 1) - 1) };
}

const prompts = 2;
/** Episodes of a prompt that a harness plays. */
const harnessGroup = 2;
const clock: Clock = { step: 0, stageStep: 0 };

/** The first `rl` stage, cut down; without one, the first stage. */
function small(config: RunConfig): RunConfig {
  const chosen = config.stages.find(({ kind }) => kind === "rl") ?? config.stages[0]!;
  const admission = methodOf("admission", "none");
  // A policy that has learned nothing fails every task: admission would leave nothing to update on.
  const curriculum =
    admission === undefined
      ? chosen.body.curriculum
      : {
          ...chosen.body.curriculum,
          admission: { ...chosen.body.curriculum.admission, use: "none", declaration: admission, params: {} },
        };
  const { rollout } = chosen.body;
  // A program may take minutes for an episode.
  const group = byHarness(rollout) ? Math.min(rollout.group, harnessGroup) : rollout.group;
  const body = { ...chosen.body, curriculum, rollout: { ...rollout, prompts, group } };
  const stage: StageConfig = {
    ...chosen,
    steps: 1,
    batch: Math.min(chosen.batch, prompts),
    body,
    // It is alone: what it takes over of other stages is not there.
    on_enter: { ...chosen.on_enter, merge: [], carryOver: undefined },
    crossfade: undefined,
    turns: [],
    part: false,
  };
  return { ...config, stages: [stage] };
}

interface Tried {
  readonly rewards: readonly TermTiming[];
  readonly probes: readonly EvaluationProbe[];
  readonly warnings: readonly string[];
}
const nothingTried: Tried = { rewards: [], probes: [], warnings: [] };

/**
 * One term by itself on the same rollouts, so that its time is its own, then on the probes.
 * @param last the stage's last step, when schedules of weights have come to their ends
 */
async function tryTerms(session: Session, trainer: Trainer, config: RunConfig, last: Clock): Promise<Tried> {
  const stage = trainer.components.stage(config.stages[0]!);
  const { body } = stage.config;
  const drawn = await stage.curriculum.draw(prompts, randomStream(config.seed, "dry-run"), clock);
  const drafts = draftsOf(
    namedGroups(drawn, new Set()),
    body.rollout.group,
    session.policy,
    ["dry-run"],
    "train",
    body.rollout,
  );
  // Of a harness, an episode a task.
  const played = byHarness(body.rollout) ? drafts.filter(({ index }) => index === 0) : drafts;
  const written = await generate({ session, stage, clock, step: 0, watch: new Stopwatch() }, played);
  const batch = dividedIn({ session, stage }, written);
  const probes = probeBatch(batch, session.policy.tokenizer, await formOf(config, batch));
  const context = trainer.components.context(body);
  const timings: TermTiming[] = [];
  const scored: RewardColumn[] = [];
  for (const term of body.reward.terms) {
    const scorer = new Scorer(body.reward, context, term.name);
    try {
      const began = performance.now();
      await scorer.prepare();
      const ready = performance.now();
      const [column] = await scorer.score(batch, rewardContext(session, clock));
      const values = [...column!.values].filter(
        (_, row) => column!.level !== "response" || column!.status[row] === status.value,
      );
      timings.push({
        term: term.name,
        prepare_seconds: (ready - began) / 1000,
        seconds_per_rollout: (performance.now() - ready) / 1000 / batch.rows,
        mean: values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length,
        errors: [...new Set(column!.errors.values())],
      });
      const [own] = await scorer.score(probes.batch, rewardContext(session, clock));
      scored.push(own!);
    } finally {
      await scorer.close();
    }
  }
  const found = probed(probes, scored, body, context, last);
  return { rewards: timings, probes: found, warnings: emptyAnswerWarnings(found, body, last) };
}

/** How the reward wants the reference answers of these rollouts' tasks: as `gradus reward --gold` finds it. */
async function formOf(config: RunConfig, { records }: Batch): Promise<GoldForm | undefined> {
  const scorer = new AnswerScorer(config);
  try {
    await scorer.prepare();
    const tasks = new Map(records.map(({ task }) => [task.id, { task }]));
    return await goldFormOf(scorer, [...tasks.values()]);
  } finally {
    await scorer.close();
  }
}

/** @throws UserError for what would end a run at its start */
export async function dryRun(full: RunConfig): Promise<DryRun> {
  admitMemory(full);
  const config = small(full);
  const models = await openModels(config);
  const { policy } = models;
  const records: Appended[] = [];
  const recorder = new Recorder(nowhere, (record) => records.push(record));
  const session: Session = {
    config,
    policy,
    models,
    recorder,
    failed: new FailedSteps(),
    signal: new AbortController().signal,
    between: () => Promise.resolve(),
  };
  const [stage] = config.stages;
  const harness = stage!.kind === "rl" && byHarness(stage!.body.rollout);
  const served = harness ? await servedAsItIs(policy) : undefined;
  const trainer = new Trainer(session, undefined, undefined, served?.server);
  const tryStage = (): Promise<Tried> | Tried =>
    stage!.kind === "rl" ? tryTerms(session, trainer, config, lastClock(full, stage!.name)) : nothingTried;
  try {
    await trainer.prepare();
    await trainer.enter(0, beginning);
    // What a harness calls does not follow the step's update.
    const early = harness ? await tryStage() : undefined;
    const metrics = await trainer.step(clock, 0);
    const { prediction, peak, limit } = planMemory(full);
    const tried = early ?? (await tryStage());
    return {
      backend: policy.backend,
      parameters: policy.parameters,
      metrics,
      ...tried,
      rollouts: records.flatMap((record) =>
        record.kind === "rollout"
          ? [
              {
                prompt: record.row.prompt ?? "",
                response: record.row.response ?? "",
                reward: record.row.reward ?? null,
              },
            ]
          : [],
      ),
      ...(harness && { episodes: episodesOf(records) }),
      memory: {
        predicted_bytes: peak,
        limit_bytes: limit.bytes,
        resident_bytes: process.memoryUsage.rss(),
        parts: { ...prediction },
      },
    };
  } finally {
    await trainer.components.close();
    served?.remove();
    models.close();
  }
}
