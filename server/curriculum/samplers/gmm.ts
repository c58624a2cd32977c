import { z } from "zod";
import { sampler } from "../../config/declaration.ts";
import type { Clock, Group, Random, Saved } from "../../seams.ts";
import { randomStream } from "../../random.ts";
import { fromUnit, unitPoint } from "../points.ts";
import type { Known, Sampler } from "../types.ts";
import { bestMixture, drawComponent, logDensity, type Component, type Mixture } from "./gaussianMixture.ts";
import { drawFrom, normalise } from "./independent.ts";

interface Options {
  readonly fit_every: number;
  readonly components: readonly number[];
  readonly uniform: number;
}

class GmmBandit implements Sampler {
  /** Of the groups since some time before the last fit: place in the unit box, then the signal. */
  private recent: Float64Array[] = [];
  private groups = 0;
  private mixture: Mixture = [];

  constructor(private readonly options: Options) {}

  /** The uniform share, and the rest by the mean signal of the components, none of which is below 0. */
  private odds(): Float64Array {
    const signals = Float64Array.from(this.mixture, ({ mean }) => Math.max(0, mean.at(-1)!));
    return normalise(signals, () => true);
  }

  /** Densities at the points that are arms: a point that comes is usually a new one. */
  probabilities(known: Known): Float64Array {
    const odds = this.odds();
    const weights = Float64Array.from({ length: known.size }, (_, arm) => {
      const point = unitPoint(known.arms, arm);
      if (this.mixture.length === 0 || point === undefined) return 1;
      const density = this.mixture.map((one, i) =>
        odds[i]! > 0 ? odds[i]! * Math.exp(logDensity(placeOf(one), point)) : 0,
      );
      return this.options.uniform + (1 - this.options.uniform) * density.reduce((sum, x) => sum + x, 0);
    });
    return normalise(weights, (arm) => known.open(arm));
  }

  draw(known: Known, n: number, random: Random): number[] {
    const { box, place } = known;
    if (box === undefined || place === undefined) return drawFrom(this.probabilities(known), n, random);
    const odds = this.odds();
    return Array.from({ length: n }, (_, i) =>
      place(fromUnit(box, this.unitDraw(odds, box.length, random.fork(i)))),
    );
  }
  private unitDraw(odds: Float64Array, dimensions: number, random: Random): number[] {
    if (this.mixture.length === 0 || random.next() < this.options.uniform)
      return Array.from({ length: dimensions }, () => random.next());
    const [chosen] = drawFrom(odds, 1, random.fork("component"));
    return [...drawComponent(this.mixture[chosen ?? 0]!, random.fork("point")).subarray(0, dimensions)];
  }

  learn(groups: readonly Group[], arms: readonly number[], known: Known, _clock: Clock): void {
    const { fit_every, components } = this.options;
    groups.forEach(({ rewards }, i) => {
      const value = known.value[arms[i]!];
      const point = arms[i]! < 0 ? undefined : unitPoint(known.arms, arms[i]!);
      if (rewards.length === 0 || value === undefined || Number.isNaN(value) || point === undefined) return;
      this.recent = [...this.recent, Float64Array.from([...point, value])].slice(-fit_every);
      this.groups += 1;
      if (this.groups % fit_every === 0)
        this.mixture = bestMixture(this.recent, components, randomStream("gmm", this.groups));
    });
  }

  save(): Saved {
    return {
      json: {
        groups: this.groups,
        recent: this.recent.map((one) => [...one]),
        mixture: this.mixture.map(({ weight, mean, factor }) => [weight, [...mean], [...factor]]),
      },
    };
  }
  load({ json }: Saved): void {
    const state = saved.safeParse(json).data;
    this.groups = state?.groups ?? 0;
    this.recent = (state?.recent ?? []).map((one) => Float64Array.from(one));
    this.mixture = (state?.mixture ?? []).map(([weight, mean, factor]) => ({
      weight,
      mean: Float64Array.from(mean),
      factor: Float64Array.from(factor),
    }));
  }
}

/** The component's distribution of places, the signal left out: the first rows of the triangle. */
function placeOf({ mean, factor }: Component): Component {
  const [all, d] = [mean.length, mean.length - 1];
  return {
    weight: 1,
    mean: mean.subarray(0, d),
    factor: Float64Array.from({ length: d * d }, (_, at) => factor[Math.floor(at / d) * all + (at % d)]!),
  };
}

const numbers = z.array(z.number());
const saved = z.object({
  groups: z.number(),
  recent: z.array(numbers),
  mixture: z.array(z.tuple([z.number(), numbers, numbers])),
});

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
    fit_every: z
      .number()
      .int()
      .min(20)
      .default(250)
      .describe("Groups between two fits; before the first points are uniform."),
    components: z
      .array(z.number().int().min(1))
      .min(1)
      .default([2, 3, 4, 5, 6, 7, 8, 9, 10])
      .describe("Numbers of components that are tried."),
    uniform: z.number().min(0).max(1).default(0.2).describe("Share of points drawn anywhere in the box."),
  }),
  create: (options) => new GmmBandit(options),
});
