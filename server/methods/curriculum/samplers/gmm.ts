import { z } from "zod";
import type { Json } from "../../../../shared/json.ts";
import { sampler } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { Clock, Saved } from "../../../core/basics.ts";
import type { Group } from "../../../core/rollouts.ts";
import { fittedNotice, measuredNotice } from "../pastCurriculum.ts";
import type { Known, Notice, Probe, Sampler } from "../../../core/slots/curriculum.ts";
import {
  FittedMixtures,
  fitParams,
  originSchema,
  type FitOptions,
  type Origin,
} from "./mixtures/fittedMixtures.ts";
import { KnowledgeProbe, knowledgeParams, probeEvery, type ProbeOptions } from "./mixtures/knowledge.ts";
import { earned, Origins } from "./mixtures/origins.ts";
import { densities, drawPlaces } from "./mixtures/places.ts";

type Options = FitOptions & ProbeOptions & { readonly uniform: number };

class GmmBandit implements Sampler {
  private readonly fitted: FittedMixtures;
  private readonly knowledge: KnowledgeProbe;
  private readonly origins = new Origins<Origin>();
  private notices: Notice[] = [];
  private box: Known["box"];

  constructor(private readonly options: Options) {
    this.fitted = new FittedMixtures(options);
    this.knowledge = new KnowledgeProbe(options);
  }

  probabilities(known: Known): Float64Array {
    return densities(known, this.fitted.mixture, this.options.uniform);
  }
  draw(known: Known, n: number, random: Random): number[] {
    this.origins.begin();
    return drawPlaces(known, n, this.fitted.mixture, this.options.uniform, random).map(
      ({ arm, component }) => {
        this.origins.note(arm, this.fitted.originOf(component));
        return arm;
      },
    );
  }
  notes(): readonly Json[] {
    return this.origins.last.map(({ fit, component }) => ({ fit, component }));
  }
  drew(arms: readonly number[], notes: readonly Json[] = []): void {
    arms.forEach((arm, i) => {
      const origin = originSchema.safeParse(notes[i]).data;
      if (origin !== undefined) this.origins.note(arm, origin);
    });
  }

  learn(groups: readonly Group[], arms: readonly number[], known: Known, _clock: Clock): void {
    for (const outcome of earned(groups, arms, known, this.origins)) {
      const fitted = this.fitted.learn(outcome, known.box ?? []);
      if (fitted !== undefined) this.notices.push(fittedNotice(fitted));
    }
  }

  probe(known: Known): Probe | undefined {
    this.box = known.box;
    return this.knowledge.probe(known, this.fitted.groups);
  }
  probed(groups: readonly Group[]): void {
    this.notices.push(measuredNotice(this.knowledge.measured(groups), this.box ?? []));
  }
  news(): readonly Notice[] {
    return this.notices.splice(0);
  }

  save(): Saved {
    return { json: { fitted: this.fitted.save(), probes: this.knowledge.save() } };
  }
  load({ json }: Saved): void {
    const state = saved.safeParse(json).data;
    // An earlier version saved what is fitted alone.
    this.fitted.load(state?.fitted ?? json);
    this.knowledge.load(state?.probes);
    this.notices = [];
    this.origins.clear();
  }
}

const saved = z.object({ fitted: z.unknown(), probes: z.number() });

export const gmm = sampler({
  name: "gmm",
  aliases: ["gmm_bandit", "alp_gmm"],
  summary:
    "Chooses points of the box where the signal is large: Gaussian mixtures over place and signal, fitted again and again.",
  formula:
    "every `fit_every` groups the mixture of least AIC on the last `fit_every` of (place, s); a component with odds ∝ its mean s, a point of it clipped to the box; `uniform` of the points anywhere",
  sources: [
    "Teacher algorithms for curriculum learning of Deep RL in continuously parameterized environments",
  ],
  takes: ["points", "estimate"],
  params: z.object({
    ...fitParams,
    uniform: z.number().min(0).max(1).default(0.2).describe("Share of points drawn anywhere in the box."),
    probe_every: probeEvery(0, "; 0: none").default(0),
    ...knowledgeParams,
  }),
  create: (options) => new GmmBandit(options),
});
