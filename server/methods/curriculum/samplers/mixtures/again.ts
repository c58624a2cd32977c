import { resolve } from "node:path";
import { z } from "zod";
import type { Json } from "../../../../../shared/lib/json.ts";
import { sampler, param } from "../../../../core/declaration.ts";
import { refers } from "../../../../core/references.ts";
import type { Random } from "../../../../lib/random.ts";
import type { Saved } from "../../../../core/basics.ts";
import type { Group } from "../../../../core/rollouts.ts";
import {
  fittedEvent,
  measuredEvent,
  pastSchema,
  readPastCurricula,
  type Knowledge,
  type PastCurriculum,
  type ReadCurriculum,
} from "../../pastCurriculum.ts";
import type { Knob } from "../../../../core/slots/tasks.ts";
import type { ArmBeliefs, ArmSet } from "../../../../core/slots/arms.ts";
import type {
  CurriculumEvent,
  Outcome,
  Pilots,
  SamplerExtensions,
} from "../../../../core/slots/curriculum.ts";
import type { ArmPool, DrawReplay, FastSampler } from "../../../../core/slots/fastArms.ts";
import { candidatePasts } from "./candidatePasts.ts";
import { FittedMixtures, fitParams, originSchema, type Origin } from "./fittedMixtures.ts";
import type { Mixture } from "./gaussianMixture.ts";
import { KnowledgePilots, knowledgeParams, probeEvery } from "./knowledge.ts";
import { nearestPast } from "./nearestPast.ts";
import { earned, Origins } from "./origins.ts";
import { densities, drawPoints } from "./points.ts";
import { ReplayedMixtures, worthFollowing, type StageOutcome } from "./replayedMixtures.ts";

type AgainOptions = Omit<z.output<typeof againParams>, "from">;

interface Source {
  readonly own: Origin | undefined;
  readonly past: StageOutcome["origin"];
}

export class Again implements FastSampler, SamplerExtensions {
  private readonly fitted: FittedMixtures;
  private readonly knowledge: KnowledgePilots;
  private readonly origins = new Origins<Source>();
  private happened: CurriculumEvent[] = [];
  private box: readonly Knob[] = [];
  readonly pilots: Pilots<ArmBeliefs, Group> = {
    next: ({ arms }) => {
      this.prepare(arms);
      this.box = arms.box ?? [];
      return this.knowledge.next(arms, this.fitted.groups);
    },
    observe: (groups) => this.measure(groups),
  };
  readonly replay: DrawReplay = {
    notes: () =>
      this.origins.last.map(({ own, past }) => ({
        own: own === undefined ? null : { ...own },
        past: past === undefined ? null : { ...past },
      })),
    take: (arms, notes = []) => this.take(arms, notes),
  };
  /** Runs that can be followed; undefined: not read yet. */
  private pasts: readonly PastCurriculum[] | undefined;
  /** The run that is followed, and its progress. */
  private followed: { readonly past: PastCurriculum; readonly replay: ReplayedMixtures } | undefined;

  constructor(
    private readonly options: AgainOptions,
    /** Reads the past curricula, unless a checkpoint holds them. */
    private readonly read: () => readonly ReadCurriculum[],
  ) {
    this.fitted = new FittedMixtures(options);
    this.knowledge = new KnowledgePilots(options);
  }

  // ─────────────────────────────────────────────────────────────── draw

  private get uniform(): number {
    const { explore, uniform, uniform_after = uniform } = this.options;
    if (this.followed === undefined) return explore;
    return this.followed.replay.over ? uniform_after : uniform;
  }
  /** The past run's components, then this run's own. */
  private get mixtures(): { readonly past: Mixture; readonly all: Mixture } {
    const past = this.followed?.replay.mixture ?? [];
    return { past, all: [...past, ...this.fitted.mixture] };
  }

  probabilities(pool: ArmPool): Float64Array {
    return densities(pool, this.mixtures.all, this.uniform);
  }
  private take(arms: readonly number[], notes: readonly Json[]): void {
    arms.forEach((arm, i) => {
      const source = sourceSchema.safeParse(notes[i]).data;
      if (source !== undefined)
        this.origins.note(arm, { own: source.own ?? undefined, past: source.past ?? undefined });
    });
  }
  draw(pool: ArmPool, n: number, random: Random): number[] {
    this.prepare(pool.arms);
    this.origins.start();
    const { past, all } = this.mixtures;
    const stage = this.followed?.replay.stage ?? 0;
    return drawPoints(pool, n, all, this.uniform, random).map(({ arm, component }) => {
      const isPast = component >= 0 && component < past.length;
      this.origins.note(arm, {
        past: isPast ? { stage, component } : undefined,
        own: isPast ? undefined : this.fitted.originOf(component < 0 ? -1 : component - past.length),
      });
      return arm;
    });
  }

  /** Reads the past runs before anything is drawn, so that errors in them cost no rollouts. */
  private prepare(arms: ArmSet): void {
    if (this.pasts !== undefined) return;
    const points = new Set(this.knowledge.gridArms(arms).map((arm) => arms.name(arm)));
    const read = this.read();
    this.pasts = candidatePasts(read, arms.box ?? [], points, this.options.least);
    const left = read.flatMap(({ past }) => (this.pasts?.includes(past) === true ? [] : [past.run]));
    if (left.length > 0)
      this.happened.push({
        name: "past-runs-left-out",
        message: `Past runs without a component of a mean signal above ${this.options.least} cannot be followed: ${left.join(", ")}.`,
        data: { runs: left },
      });
  }

  // ─────────────────────────────────────────────────────────────── pilot rollouts

  private measure(groups: readonly Group[]): void {
    const knowledge = this.knowledge.measured(groups);
    this.happened.push(measuredEvent(knowledge, this.box));
    if (this.knowledge.count >= this.options.pre_run) this.choose(knowledge);
  }

  private choose(now: Knowledge): void {
    const pasts = this.pasts ?? [];
    if (this.followed !== undefined || pasts.length === 0) return;
    const found = nearestPast(now, pasts, this.options.neighbours);
    // A single run is always followed; several can be compared only once this run has scored rollouts.
    const past = pasts.length === 1 ? pasts[0]! : found?.chosen.past;
    if (past === undefined) return;
    const replay = this.follow(past);
    const compared =
      found?.near.map(({ past: { run }, distance, score }) => ({ run, distance, score })) ?? [];
    const [chosen] = compared.filter(({ run }) => run === past.run);
    this.happened.push({
      name: "past-run-chosen",
      message: `After ${now.groups} groups the curriculum follows the run ${past.run}, ${replay.length} ${replay.length === 1 ? "mixture" : "mixtures"} of it${chosen === undefined ? "" : `: of the ${compared.length} past runs nearest in what they knew then (this one ${chosen.distance.toFixed(3)} away) it knew most in the end (${Math.round(100 * chosen.score)} %)`}.`,
      data: { run: past.run, groups: now.groups, compared },
    });
  }
  private follow(past: PastCurriculum): ReplayedMixtures {
    const replay = new ReplayedMixtures(
      worthFollowing(past, this.options.least),
      this.options,
      this.fitted.groups,
    );
    this.followed = { past, replay };
    this.pasts = [];
    return replay;
  }

  // ─────────────────────────────────────────────────────────────── learn

  learn(outcomes: readonly Outcome[], { arms }: ArmBeliefs): void {
    for (const { origin, ...outcome } of earned(outcomes, arms, this.origins)) {
      const fitted = this.fitted.learn({ ...outcome, origin: origin?.own }, arms.box ?? []);
      if (fitted !== undefined) this.happened.push(fittedEvent(fitted));
      this.advance({ origin: origin?.past, reward: outcome.reward, signal: outcome.signal });
    }
  }

  private advance(outcome: StageOutcome): void {
    if (this.followed === undefined) return;
    const { past, replay } = this.followed;
    const { groups } = this.fitted;
    const change = replay.learn(outcome, groups);
    if (change === undefined) return;
    this.happened.push({
      name: change === "advanced" ? "past-run-advanced" : "past-run-over",
      message:
        change === "advanced"
          ? `After ${groups} groups the curriculum goes on to mixture ${replay.stage + 1} of ${replay.length} of the run ${past.run}.`
          : `After ${groups} groups the curriculum of the run ${past.run} is at its last mixture, which goes on with this run's own signals.`,
      data: { run: past.run, groups, stage: replay.stage },
    });
  }

  events(): readonly CurriculumEvent[] {
    return this.happened.splice(0);
  }

  // ─────────────────────────────────────────────────────────────── state

  /** Includes what it needs of past runs, since their files may be gone on resume. */
  save(): Saved {
    return {
      json: {
        fitted: this.fitted.save(),
        probes: this.knowledge.save(),
        pasts: this.pasts ?? null,
        followed: this.followed?.past ?? null,
        replay: this.followed?.replay.save() ?? null,
      },
    };
  }
  load({ json }: Saved): void {
    const state = saved.parse(json);
    this.fitted.load(state.fitted);
    this.knowledge.load(state.probes);
    this.followed = undefined;
    if (state.followed !== null) this.follow(state.followed).load(state.replay);
    this.pasts = state.pasts ?? undefined;
    this.happened = [];
    this.origins.clear();
  }
}

const sourceSchema = z.object({
  own: originSchema.nullable(),
  past: z.object({ stage: z.number(), component: z.number() }).nullable(),
});

const saved = z.object({
  fitted: z.unknown(),
  probes: z.number(),
  pasts: z.array(pastSchema).nullable(),
  followed: pastSchema.nullable(),
  replay: z.unknown(),
});

const share = z.number().min(0).max(1);

export const againParams = z.object({
  from: param(
    z.array(refers({ to: "file", ends: [".jsonl"] })).default([]),
    "Files of past curricula, one run a line, as `gradus runs export RUN --to curriculum` writes them; none: the run stays in its pre-run, and later runs can follow it.",
  ),
  pre_run: param(
    z.number().int().min(1).default(1),
    "Measurements of what the policy knows after which a past run is chosen.",
  ),
  neighbours: param(z.number().int().min(1).default(3), "k: past runs that are near enough to choose from."),
  least: param(
    z.number().min(0).default(0.2),
    "Components of a mean signal above it are followed; 0.2 where rewards lie in [0, 1].",
  ),
  advance: param(
    z.enum(["reward", "time", "pool"]).default("reward"),
    "When the next mixture comes: once this one earns what it earned the past run, every `fit_every` groups from the run's first on, or all mixtures are one from the start.",
  ),
  window: param(
    z.number().int().min(1).default(10),
    "Last groups of a mixture whose mean reward is compared.",
  ),
  tolerance: param(z.number().min(0).default(1), "Times the past run's reward is what must be earned."),
  explore: param(share.default(0.1), "Share of points drawn anywhere in the box in the pre-run."),
  uniform: param(
    share.default(0.02),
    "Share of points drawn anywhere in the box while a past run is followed.",
  ),
  uniform_after: param(
    share.optional(),
    "That share from the past run's last mixture on; default: `uniform`.",
  ),
  ...fitParams,
  probe_every: probeEvery(1).default(500),
  ...knowledgeParams,
});

export const again = sampler({
  name: "again",
  summary:
    "ALP-GMM that follows a past run: it draws from the mixtures of the run whose policy knew as much, and from its own.",
  formula:
    "after the pre-run, of the k past runs of least RMS difference in what was right at a grid of points the one that was right most often in the end; its mixtures in their order, components of mean s > least, with the latest of its own: a component with odds ∝ its mean s; on once the mean of the last rewards ≥ that of the past run's last 50; at the last mixture the mean s are renewed every 100 groups",
  sources: ["Meta Automatic Curriculum Learning"],
  takes: ["points", "estimate"],
  params: againParams,
  create: ({ from, ...options }, { folder }) =>
    new Again(options, () => readPastCurricula(from.map((file) => resolve(folder, file)))),
});
