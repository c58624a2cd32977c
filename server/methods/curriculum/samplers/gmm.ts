import { z } from "zod";
import type { Json } from "../../../../shared/lib/json.ts";
import { sampler, param } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import { fittedEvent, measuredEvent } from "../pastCurriculum.ts";
import type { Knob } from "../../../core/slots/tasks.ts";
import type { ArmBeliefs } from "../../../core/slots/arms.ts";
import type { CurriculumEvent, Outcome, Pilots, SamplerExtensions } from "../../../core/slots/curriculum.ts";
import type { ArmPool, DrawReplay, FastSampler } from "../../../core/slots/fastArms.ts";
import {
  FittedMixtures,
  fitParams,
  originSchema,
  type FitOptions,
  type Origin,
} from "./mixtures/fittedMixtures.ts";
import { KnowledgePilots, knowledgeParams, probeEvery, type ProbeOptions } from "./mixtures/knowledge.ts";
import { earned, Origins } from "./mixtures/origins.ts";
import { densities, drawPoints } from "./mixtures/points.ts";

type Options = FitOptions & ProbeOptions & { readonly uniform: number };

class GmmBandit implements FastSampler, SamplerExtensions {
  private readonly fitted: FittedMixtures;
  private readonly knowledge: KnowledgePilots;
  private readonly origins = new Origins<Origin>();
  private happened: CurriculumEvent[] = [];
  private box: readonly Knob[] = [];
  readonly pilots: Pilots<ArmBeliefs, Group> = {
    next: ({ arms }) => {
      this.box = arms.box ?? [];
      return this.knowledge.next(arms, this.fitted.groups);
    },
    observe: (groups) => {
      this.happened.push(measuredEvent(this.knowledge.measured(groups), this.box));
    },
  };
  readonly replay: DrawReplay = {
    notes: () => this.origins.last.map(({ fit, component }) => ({ fit, component })),
    take: (arms, notes = []) => this.take(arms, notes),
  };

  constructor(private readonly options: Options) {
    this.fitted = new FittedMixtures(options);
    this.knowledge = new KnowledgePilots(options);
  }

  probabilities(pool: ArmPool): Float64Array {
    return densities(pool, this.fitted.mixture, this.options.uniform);
  }
  draw(pool: ArmPool, n: number, random: Random): number[] {
    this.origins.start();
    return drawPoints(pool, n, this.fitted.mixture, this.options.uniform, random).map(
      ({ arm, component }) => {
        this.origins.note(arm, this.fitted.originOf(component));
        return arm;
      },
    );
  }
  private take(arms: readonly number[], notes: readonly Json[]): void {
    arms.forEach((arm, i) => {
      const origin = originSchema.safeParse(notes[i]).data;
      if (origin !== undefined) this.origins.note(arm, origin);
    });
  }

  learn(outcomes: readonly Outcome[], { arms }: ArmBeliefs): void {
    for (const one of earned(outcomes, arms, this.origins)) {
      const fitted = this.fitted.learn(one, arms.box ?? []);
      if (fitted !== undefined) this.happened.push(fittedEvent(fitted));
    }
  }

  events(): readonly CurriculumEvent[] {
    return this.happened.splice(0);
  }

  save(): Saved {
    return { json: { fitted: this.fitted.save(), probes: this.knowledge.save() } };
  }
  load({ json }: Saved): void {
    const state = saved.safeParse(json).data;
    // An earlier version saved only what is fitted.
    this.fitted.load(state?.fitted ?? json);
    this.knowledge.load(state?.probes);
    this.happened = [];
    this.origins.clear();
  }
}

const saved = z.object({ fitted: z.unknown(), probes: z.number() });

export const gmm = sampler({
  name: "gmm",
  aliases: ["gmm_bandit", "alp_gmm"],
  summary:
    "Draws points of the box where the signal is large, from Gaussian mixtures over point and signal that are refitted during the run.",
  formula:
    "every `fit_every` groups the mixture of least AIC on the last `fit_every` of (place, s); a component with odds ∝ its mean s, a point of it clipped to the box; `uniform` of the points anywhere",
  sources: [
    "Teacher algorithms for curriculum learning of Deep RL in continuously parameterized environments",
  ],
  takes: ["points", "estimate"],
  params: z.object({
    ...fitParams,
    uniform: param(z.number().min(0).max(1).default(0.2), "Share of points drawn anywhere in the box."),
    probe_every: probeEvery(0, "; 0: none").default(0),
    ...knowledgeParams,
  }),
  create: (options) => new GmmBandit(options),
});
