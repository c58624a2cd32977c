/** Mixtures over point and signal that are refitted during a run, and the rewards of groups drawn from them. */
import { z } from "zod";
import { param } from "../../../../core/declaration.ts";
import type { Json } from "../../../../../shared/lib/json.ts";
import { randomStream } from "../../../../lib/random.ts";
import type { Knob } from "../../../../core/slots/tasks.ts";
import { boxOf, type Fitted } from "../../pastCurriculum.ts";
import { bestMixture, covarianceOf, type Mixture } from "./gaussianMixture.ts";
import type { Earned } from "./origins.ts";

export const fitParams = {
  fit_every: param(
    z.number().int().min(20).default(250),
    "Groups between two fits; before the first points are uniform.",
  ),
  components: param(
    z.array(z.number().int().min(1)).min(1).default([2, 3, 4, 5, 6, 7, 8, 9, 10]),
    "Numbers of components that are tried.",
  ),
};
export type FitOptions = z.output<z.ZodObject<typeof fitParams>>;

export const originSchema = z.object({ fit: z.number(), component: z.number() });
/** Which of the mixtures so far, from 1, and which of its components. */
export type Origin = Readonly<z.output<typeof originSchema>>;

export class FittedMixtures {
  /** Recent groups: point in the unit box, then the signal. */
  private recent: Float64Array[] = [];
  private earned: [number, number][] = [];
  private fits = 0;
  groups = 0;
  mixture: Mixture = [];

  constructor(private readonly options: FitOptions) {}

  /** The origin of a point drawn from the current mixture. */
  originOf = (component: number): Origin => ({ fit: this.fits, component });

  /** @returns the new mixture, when it is time for one */
  learn({ point, signal, reward, origin }: Earned<Origin>, box: readonly Knob[]): Fitted | undefined {
    const { fit_every, components } = this.options;
    this.recent = [...this.recent, Float64Array.from([...point, signal])].slice(-fit_every);
    if (origin !== undefined && origin.component >= 0 && origin.fit === this.fits && Number.isFinite(reward))
      this.earned.push([origin.component, reward]);
    this.groups += 1;
    if (this.groups % fit_every !== 0) return undefined;
    const { earned } = this;
    this.mixture = bestMixture(this.recent, components, randomStream("gmm", this.groups));
    this.fits += 1;
    this.earned = [];
    return { groups: this.groups, box: boxOf(box), components: recorded(this.mixture), earned };
  }

  save(): Json {
    return {
      groups: this.groups,
      fits: this.fits,
      earned: this.earned.map((one) => [...one]),
      recent: this.recent.map((one) => [...one]),
      mixture: this.mixture.map(({ weight, mean, factor }) => [weight, [...mean], [...factor]]),
    };
  }
  load(json: unknown): void {
    const state = saved.safeParse(json).data;
    this.groups = state?.groups ?? 0;
    this.fits = state?.fits ?? 0;
    this.earned = state?.earned ?? [];
    this.recent = (state?.recent ?? []).map((one) => Float64Array.from(one));
    this.mixture = (state?.mixture ?? []).map(([weight, mean, factor]) => ({
      weight,
      mean: Float64Array.from(mean),
      factor: Float64Array.from(factor),
    }));
  }
}

const recorded = (mixture: Mixture): Fitted["components"] =>
  mixture.map((one) => ({ weight: one.weight, mean: [...one.mean], covariance: covarianceOf(one) }));

const numbers = z.array(z.number());
const saved = z.object({
  groups: z.number(),
  // Checkpoints of earlier versions have neither.
  fits: z.number().default(0),
  earned: z.array(z.tuple([z.number(), z.number()])).default([]),
  recent: z.array(numbers),
  mixture: z.array(z.tuple([z.number(), numbers, numbers])),
});
