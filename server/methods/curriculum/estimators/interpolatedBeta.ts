import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { mean } from "../../../../shared/lib/mean.ts";
import { estimator, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Saved } from "../../../core/basics.ts";
import { Column } from "../column.ts";
import { numberIn } from "../fields.ts";
import type { ArmSet } from "../../../core/slots/arms.ts";
import type { Estimator, EstimatorExtensions, Observation } from "../../../core/slots/curriculum.ts";
import { betaMean, betaPosterior } from "./betaPosterior.ts";

const params = z.object({
  alpha: param(z.number().positive().default(1), "α₀, successes before the first."),
  beta: param(z.number().positive().default(1), "β₀, failures before the first."),
  forget: param(
    z.number().min(0).max(1).default(0.1),
    "λ: the share of every prompt's counts that each step forgets; 0.1 in the released example.",
  ),
  implicit: param(
    z.number().min(0).max(1).default(0.1),
    "ρ: what a predicted success or failure of a prompt that was not drawn counts; 0.1 in the released example.",
  ),
  pseudo: param(
    z.number().positive().default(16),
    "m: rollouts that a prediction counts as, before ρ; the group's size in the released example.",
  ),
  weak_field: param(
    refers({ to: "field" }).optional(),
    "Field with each prompt's success rate by a weak reference model. Without both fields nothing is predicted.",
  ),
  strong_field: param(refers({ to: "field" }).optional(), "The same by a strong one."),
  smoothing: param(
    z.number().min(0).max(1).default(0.9),
    "Weight of the earlier steps in the estimate of where between the two models the policy is.",
  ),
});
type Options = z.output<typeof params>;

/** Keeps the denominator of the policy's place from 0. */
const SMALL = 1e-6;

interface Fields {
  readonly weak: string;
  readonly strong: string;
}
function fieldsOf({ weak_field: weak, strong_field: strong }: Options): Fields | undefined {
  if (weak !== undefined && strong !== undefined) return { weak, strong };
  if (weak === undefined && strong === undefined) return undefined;
  throw new UserError("estimator: `interpolated_beta` interpolates between two models, but one is named", {
    code: "estimator-interpolated",
    action: "Name both `weak_field` and `strong_field`, or neither.",
  });
}

const saved = z.object({ place: z.number().nullable() });

class InterpolatedBeta implements Estimator, EstimatorExtensions {
  private readonly alphas: Column;
  private readonly betas: Column;
  private readonly weak = new Column(Number.NaN);
  private readonly strong = new Column(Number.NaN);
  private arms = 0;
  private step: Observation[] = [];
  /** Where the policy is: 0 as the weak model, 1 as the strong one. */
  private place: number | undefined;
  private readonly fields: Fields | undefined;
  readonly posterior = betaPosterior((arm) => [this.alphas.get(arm), this.betas.get(arm)]);

  constructor(private readonly options: Options) {
    this.fields = fieldsOf(options);
    this.alphas = new Column(options.alpha);
    this.betas = new Column(options.beta);
  }

  addArms(arms: ArmSet): void {
    for (; this.arms < arms.size; this.arms++) this.read(arms, this.arms);
  }
  private read(arms: ArmSet, arm: number): void {
    if (this.fields === undefined) return;
    const task = arms.task?.(arm);
    for (const of of ["weak", "strong"] as const) {
      const rate = task && numberIn(task, this.fields[of]);
      if (rate === undefined || rate < 0 || rate > 1)
        throw new UserError(
          `estimator: the arm ${arms.name(arm)} has no success rate in its field ${this.fields[of]}`,
          {
            code: "estimator-interpolated",
            action:
              task === undefined
                ? "Take `arms: prompt`, whose arms are tasks."
                : "Name a field that is a number from 0 to 1 in every line.",
          },
        );
      this[of].set(arm, rate);
    }
  }

  observe(observation: Observation): void {
    this.step.push(observation);
  }
  endStep(): void {
    const observed = this.step;
    this.step = [];
    if (observed.length === 0) return;
    if (this.fields !== undefined) this.locate(observed);
    const drawn = new Map(observed.map((one) => [one.arm, one]));
    const { alpha, beta, forget } = this.options;
    for (let arm = 0; arm < this.arms; arm++) {
      const [successes, failures] = this.evidence(arm, drawn.get(arm));
      this.alphas.set(arm, (1 - forget) * this.alphas.get(arm) + forget * alpha + successes);
      this.betas.set(arm, (1 - forget) * this.betas.get(arm) + forget * beta + failures);
    }
  }
  /** What a step says of an arm: its own successes and failures, or predicted ones. */
  private evidence(arm: number, drawn: Observation | undefined): readonly [number, number] {
    if (drawn !== undefined) return [drawn.mean * drawn.rollouts, (1 - drawn.mean) * drawn.rollouts];
    if (this.place === undefined) return [0, 0];
    const weak = this.weak.get(arm);
    const rate = Math.min(1, Math.max(0, weak + (this.strong.get(arm) - weak) * this.place));
    const worth = this.options.implicit * this.options.pseudo;
    return [worth * rate, worth * (1 - rate)];
  }
  /** Moves the policy's place by where the drawn prompts' mean rate lies between those of the two models. */
  private locate(observed: readonly Observation[]): void {
    const weak = mean(observed.map(({ arm }) => this.weak.get(arm)));
    const strong = mean(observed.map(({ arm }) => this.strong.get(arm)));
    const now = (mean(observed.map((one) => one.mean)) - weak) / (strong - weak + SMALL);
    const { smoothing } = this.options;
    this.place = this.place === undefined ? now : smoothing * this.place + (1 - smoothing) * now;
  }

  estimate(arm: number): number {
    return betaMean(this.posterior.shapes(arm));
  }

  save(): Saved {
    return {
      json: { place: this.place ?? null },
      arrays: { alphas: this.alphas.save(), betas: this.betas.save() },
    };
  }
  load({ json, arrays }: Saved): void {
    this.place = saved.parse(json).place ?? undefined;
    this.alphas.load(arrays?.["alphas"]);
    this.betas.load(arrays?.["betas"]);
  }
}

export const interpolatedBeta = estimator({
  name: "interpolated_beta",
  summary:
    "A Beta posterior of each prompt's success rate that forgets; prompts that were not drawn get pseudo-counts, predicted from the success rates of two reference models.",
  formula:
    "α ← (1 − λ)α + λα₀ + s, β ← (1 − λ)β + λβ₀ + f; drawn: s and f are its successes and failures; else s = ρm p̃ and f = ρm(1 − p̃), p̃ = clip(w + c (g − w), 0, 1) from the weak and strong rates w and g; c ← 0.9c + 0.1 (r̄ − w̄)/(ḡ − w̄ + 10⁻⁶) by the drawn prompts' mean rates r̄, w̄ and ḡ, at first that quotient itself; estimate α/(α + β)",
  sources: ["BOTS: A Unified Framework for Bayesian Online Task Selection in LLM Reinforcement Finetuning"],
  gives: ["estimate", "spread", "posterior"],
  takes: ["rate"],
  params,
  create: (options) => new InterpolatedBeta(options),
});
