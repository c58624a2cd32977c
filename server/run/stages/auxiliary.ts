/** The auxiliary losses while a run goes on: when each is due, on what rows, in whose optimiser step. */
import { z } from "zod";
import { create } from "../../core/create.ts";
import { epsilonOf } from "../../methods/auxiliary/epsilon.ts";
import { Mixture } from "../../methods/auxiliary/mixture.ts";
import { Reweighting } from "../../methods/auxiliary/reweighting.ts";
import { auxiliaryNames } from "../../config/build/auxiliaryNames.ts";
import { rateAt } from "../../core/blocks/learningRate.ts";
import type { AuxiliaryConfig } from "../../core/config/resolved.ts";
import { randomStream } from "../../lib/random.ts";
import type { Auxiliary } from "../../core/slots/auxiliary.ts";
import type { Saved, Stateful } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { UpdatePlan, UpdateStats, Weigh } from "../../core/policy.ts";
import type {
  Admitted,
  AuthorTexts,
  Selected,
  StepContext,
  StepAdvantages,
  StepAuxiliary,
} from "../step/context.ts";
import { imitationGain } from "./mixedGradients.ts";
import { Demonstrations, demonstrated } from "./ownLikelihood.ts";
import { meanOf } from "../step/log/measure.ts";
import type { Training } from "../step/update/training.ts";
import { ModelLearner } from "../models/modelLearner.ts";
import { PaidAuthor } from "../models/paidAuthor.ts";
import type { LossPart } from "../step/update/lossParts.ts";
import type { CreateContext } from "../../core/declaration.ts";

export class AuxiliaryLosses implements StepAuxiliary, Stateful {
  readonly demonstrations: readonly Demonstrations[];
  readonly learners: readonly ModelLearner[];
  private readonly authors: readonly PaidAuthor[];
  private readonly reweighting: Reweighting | undefined;
  private readonly mixture: Mixture | undefined;
  private readonly private: Extract<Auxiliary, { kind: "privacy" }> | undefined;
  /** Optimiser steps taken. */
  private noisy = 0;

  constructor(list: readonly AuxiliaryConfig[], context: CreateContext) {
    const names = auxiliaryNames(list);
    const made = list.map((config) => ({ config, loss: create(config.loss, context) }));
    this.demonstrations = made.flatMap(({ config, loss }, i) => {
      if (loss.kind !== "likelihood") return [];
      const optimizer = config.optimizer && create(config.optimizer, context);
      return [new Demonstrations(names[i]!, i, loss, config, optimizer)];
    });
    const metricOf = numbering();
    this.learners = made.flatMap(({ config, loss }, i) =>
      loss.kind === "learner"
        ? [new ModelLearner(names[i]!, metricOf(loss.model), i, loss, config, context)]
        : [],
    );
    this.authors = made.flatMap(({ config, loss }, i) =>
      loss.kind === "author" ? [new PaidAuthor(metricOf(loss.model), i, loss, config, context)] : [],
    );
    for (const { loss } of made) {
      if (loss.kind === "reweighting") this.reweighting = new Reweighting(loss.window, loss.temperature);
      if (loss.kind === "mixing") this.mixture = new Mixture(loss);
      if (loss.kind === "privacy") this.private = loss;
    }
  }

  async notice(context: StepContext, selected: Selected, advantages: StepAdvantages): Promise<void> {
    for (const one of this.demonstrations) await one.notice(context, selected, advantages);
  }

  /** Moves the share of imitation by what the step's rollouts show, before their updates. */
  balance(context: StepContext, { batch }: Selected, train: Training): void {
    const { mixture } = this;
    if (mixture === undefined) return;
    const product = mixture.compares(context.clock.stageStep) ? this.gain(context, train) : 0;
    mixture.move(meanOf(batch.columns.entropy) ?? Number.NaN, product);
  }
  private gain(context: StepContext, train: Training): number {
    const one = this.demonstrations.find(
      ({ config, waiting }) => config.place === "joined" && waiting === undefined,
    );
    const [batch, other] = [one?.rows(context), one?.rows(context, "validation")];
    if (one === undefined || batch === undefined || other === undefined) return 0;
    const part = { channels: one.channels, weigh: demonstrated(one.loss) };
    return imitationGain(context, train, { batch, ...part }, { batch: other, ...part });
  }

  wrote(texts: AuthorTexts): void {
    for (const one of this.authors) if (one.loss.model === texts.model) one.wrote(texts);
  }

  /** Before the advantages of a step: models that learn from rollouts they remember, and those that wrote its tasks. */
  async learn(context: StepContext, admitted: Admitted): Promise<Record<string, number>> {
    const metrics: Record<string, number> = {};
    for (const one of [...this.learners, ...this.authors])
      Object.assign(metrics, await one.learn(context, admitted));
    return metrics;
  }

  /** Behind the advantages: models that learn from the rollouts of the step. */
  async fit(context: StepContext, { train }: StepAdvantages): Promise<Record<string, number>> {
    const metrics: Record<string, number> = {};
    for (const one of this.learners) Object.assign(metrics, await one.fit(context, train));
    return metrics;
  }

  /** Losses that share the policy's own optimiser steps now. */
  joined(context: StepContext): LossPart[] {
    return this.demonstrations.flatMap((one) => {
      const batch = one.config.place === "joined" ? one.rows(context) : undefined;
      return batch === undefined ? [] : [this.part(context, one, batch)];
    });
  }

  private part(context: StepContext, one: Demonstrations, batch: Batch): LossPart {
    const weight = one.weight(context) * this.factor(one.name);
    return { name: one.name, batch, channels: one.channels, weigh: demonstrated(one.loss), weight };
  }

  /** Optimiser steps of their own. */
  async alone(context: StepContext): Promise<UpdateStats[]> {
    const { stage, session, clock } = context;
    const updates: UpdateStats[] = [];
    for (const one of this.demonstrations) {
      const batch = one.config.place === "alone" ? one.rows(context) : undefined;
      if (batch === undefined) continue;
      const { channels, weigh, weight } = this.part(context, one, batch);
      const plan: UpdatePlan = {
        channels,
        unit: "sequence",
        lr_scale: one.optimizer === undefined ? rateAt(stage.config.body.update.schedule, clock) : 1,
        ...(one.optimizer && { optimizer: { name: one.name, choice: one.optimizer } }),
        ...this.privacy(context),
      };
      const update = await session.models
        .get("policy")
        .update(batch, plan, (now, rows) => scaled(weigh(now, rows), weight));
      updates.push({
        ...update,
        metrics: { ...skipped(update), [`loss/${one.name}`]: update.loss / weight },
      });
    }
    return updates;
  }

  /** Factor on a loss by what all of them did of late. */
  factor(name: string): number {
    return (this.reweighting?.weights().get(name) ?? 1) * (this.mixture?.factor(name) ?? 1);
  }

  privacy({ session, step }: StepContext): Pick<UpdatePlan, "per_sequence_clip" | "noise"> {
    if (this.private === undefined) return {};
    const { clip, noise } = this.private;
    const random = randomStream(session.config.seed, "gradient noise", step, session.policy.version);
    return { per_sequence_clip: clip, ...(noise > 0 && { noise: { deviation: noise * clip, random } }) };
  }

  /** Takes note of the losses of a step. */
  learned(updates: readonly UpdateStats[]): void {
    const taken = updates.filter(({ metrics }) => metrics["update/skipped"] !== 1);
    if (taken[0] !== undefined) this.mixture?.updated(taken[0].lr);
    this.noisy += taken.length;
    if (this.reweighting === undefined) return;
    for (const name of ["policy", ...this.demonstrations.map((one) => one.name)]) {
      const losses = updates.flatMap(({ metrics, loss }) => {
        const own = metrics[`loss/${name}`] ?? (name === "policy" && !hasParts(metrics) ? loss : undefined);
        return own === undefined ? [] : [own];
      });
      if (losses.length > 0)
        this.reweighting.observe(name, losses.reduce((sum, loss) => sum + loss, 0) / losses.length);
    }
  }

  measure(): Record<string, number> {
    const waiting = this.demonstrations.flatMap(({ name, waiting }) =>
      waiting === undefined ? [] : [[`auxiliary/${name}/waiting`, waiting] as const],
    );
    const named = ["policy", ...this.demonstrations.map(({ name }) => name)];
    const moved = this.mixture !== undefined || (this.reweighting?.weights().size ?? 0) > 0;
    const weights = moved ? named.map((name) => [`loss/${name}/weight`, this.factor(name)] as const) : [];
    const own = this.private;
    return {
      ...Object.fromEntries(waiting),
      ...Object.fromEntries(weights),
      ...(own !== undefined && own.noise > 0
        ? { "privacy/epsilon": epsilonOf(this.noisy, own.noise, own.delta) }
        : {}),
    };
  }

  save(): Saved {
    const parts = [...this.demonstrations, ...this.learners].map((one) => [one.name, one.save()] as const);
    const own = this.reweighting?.save();
    const share = this.mixture?.save();
    const all: (readonly [string, Saved])[] = [
      ...parts,
      ...(own === undefined ? [] : [["", own] as const]),
      ...(share === undefined ? [] : [[MIXTURE, share] as const]),
    ];
    return {
      json: { noisy: this.noisy, states: Object.fromEntries(all.map(([name, saved]) => [name, saved.json])) },
      arrays: Object.fromEntries(
        all.flatMap(([name, { arrays = {} }]) =>
          Object.entries(arrays).map(([key, values]) => [`${name}/${key}`, values]),
        ),
      ),
    };
  }
  load({ json, arrays = {} }: Saved): void {
    const { noisy, states } = lossesSchema.parse(json);
    this.noisy = noisy;
    const of = (name: string): Saved => ({
      json: states[name] ?? null,
      arrays: Object.fromEntries(
        Object.entries(arrays).flatMap(([key, values]) =>
          key.startsWith(`${name}/`) ? [[key.slice(name.length + 1), values]] : [],
        ),
      ),
    });
    for (const one of [...this.demonstrations, ...this.learners])
      if (states[one.name] !== undefined) one.load(of(one.name));
    if (states[""] !== undefined) this.reweighting?.load(of(""));
    if (states[MIXTURE] !== undefined) this.mixture?.load(of(MIXTURE));
  }
}

/** What metrics call models that train: by their names, numbered where one comes again. */
function numbering(): (model: string) => string {
  const seen = new Map<string, number>();
  return (model) => {
    const count = (seen.get(model) ?? 0) + 1;
    seen.set(model, count);
    return count === 1 ? model : `${model}${count}`;
  };
}

/** No loss is called so. */
const MIXTURE = "mixing";

const lossesSchema = z.object({ noisy: z.number(), states: z.record(z.string(), z.json()) });

const skipped = ({ metrics }: UpdateStats): UpdateStats["metrics"] => ({
  "update/skipped": metrics["update/skipped"] ?? 0,
});

const hasParts = (metrics: UpdateStats["metrics"]): boolean =>
  Object.keys(metrics).some((name) => name.startsWith("loss/"));

const scaled = ({ loss, gradients, ...rest }: ReturnType<Weigh>, weight: number): ReturnType<Weigh> => ({
  ...rest,
  loss: weight * loss,
  gradients: Object.fromEntries(
    Object.entries(gradients).flatMap(([channel, values]) =>
      values === undefined ? [] : [[channel, values.map((value) => weight * value)]],
    ),
  ),
});
