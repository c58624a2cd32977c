/** The losses beside the objective while a run goes on: when each is due, on what rows, in whose optimiser step. */
import { z } from "zod";
import { create } from "../algorithm.ts";
import { epsilonOf } from "../auxiliary/epsilon.ts";
import { Reweighting } from "../auxiliary/reweighting.ts";
import { joinBatches } from "../batch.ts";
import { auxiliaryNames } from "../config/auxiliaryNames.ts";
import { valueAt, type OptimizerChoice } from "../config/declaration.ts";
import { rateAt } from "../config/learningRate.ts";
import type { AuxiliaryConfig, CreateContext } from "../config/resolved.ts";
import { randomStream } from "../random.ts";
import { Memory } from "../replay/memory.ts";
import { withoutReplacement } from "../replay/drawing.ts";
import type {
  Auxiliary,
  Batch,
  Channel,
  Saved,
  Stateful,
  Task,
  UpdatePlan,
  UpdateStats,
  Weigh,
} from "../seams.ts";
import type { Collected, Place } from "./collect.ts";
import { piecesOf } from "./demonstrations.ts";
import type { StepAdvantages } from "./learn.ts";
import type { LossPart } from "./parts.ts";
import { keptRow } from "./replay.ts";
import { drawByWeight } from "./byWeight.ts";
import { solved } from "./supervised.ts";

type Likelihood = Extract<Auxiliary, { kind: "likelihood" }>;

/** L = Σ (−log π − c·H) / tokens, over the tokens that train. */
export const demonstrated =
  (entropy: number): Weigh =>
  (now, batch) => {
    const count = batch.mask.reduce((sum, one) => sum + one, 0);
    const slope = batch.mask.map((one) => one);
    const [logp, bonus] = [new Float64Array(slope.length), new Float64Array(slope.length)];
    let loss = 0;
    for (let i = 0; i < slope.length; i++) {
      if (slope[i] === 0) continue;
      logp[i] = -1 / count;
      bonus[i] = -entropy / count;
      loss -= ((now.logp?.[i] ?? 0) + (entropy === 0 ? 0 : entropy * (now.entropy?.[i] ?? 0))) / count;
    }
    return { loss, gradients: entropy === 0 ? { logp } : { logp, entropy: bonus } };
  };

/** One likelihood of the list, with what it has gathered. */
export class Demonstrations implements Stateful {
  /** Tasks all of whose rollouts failed, newest first. */
  private failed: Task[] = [];
  readonly memory: Memory;
  /** Tokens of a text. */
  text: Int32Array | undefined;

  /** @param index place in the config's list */
  constructor(
    readonly name: string,
    private readonly index: number,
    readonly loss: Likelihood,
    readonly config: AuxiliaryConfig,
    readonly optimizer: OptimizerChoice | undefined,
  ) {
    const { data } = loss;
    this.memory = new Memory(
      data.from === "successes" ? data.capacity : data.from === "file" ? Number.MAX_SAFE_INTEGER : 0,
      undefined,
      data.from === "file",
    );
  }

  /** How many tasks wait for their solutions to be learned; undefined: it waits for none. */
  get waiting(): number | undefined {
    return this.needed === undefined ? undefined : this.failed.length;
  }
  private get needed(): number | undefined {
    const { when } = this.config;
    return when === "always" ? undefined : when.all_failed;
  }

  /** Takes note of what failed and what succeeded in a step. */
  notice({ clock, step }: Place, collected: Collected, advantages: StepAdvantages): void {
    if (this.needed !== undefined) {
      const fresh = collected.groups
        .filter(
          ({ rewards, successes, task }) =>
            rewards.length > 0 && successes === 0 && task.solution !== undefined,
        )
        .map(({ task }) => task);
      const ids = new Set(fresh.map(({ id }) => id));
      this.failed = [...fresh, ...this.failed.filter(({ id }) => !ids.has(id))].slice(0, 4 * this.needed);
    }
    if (this.loss.data.from !== "successes") return;
    const { batch, scored } = collected;
    const rows = [...scored.success.keys()].filter((row) => scored.success[row] === 1);
    this.memory.keep(
      rows.map((row) => keptRow(collected, advantages.all, row, clock.step, `${step}/${batch.group[row]}`)),
      () => true,
      clock.step,
    );
  }

  /** As the config has it now: a run may be told another one on its way. */
  weight({ stage, clock }: Place): number {
    return valueAt((stage.config.body.auxiliary[this.index] ?? this.config).weight, clock);
  }

  private due({ clock, stage }: Place): boolean {
    const { when } = this.config;
    if (when === "always") return true;
    const { every, last, all_failed = 1 } = when;
    if (every !== undefined) return (clock.stageStep + 1) % every === 0;
    if (last !== undefined) return clock.stageStep >= stage.config.steps - last;
    return this.failed.length >= all_failed;
  }

  /** Rows to learn from now; undefined where it is not due or there are none. */
  rows(place: Place): Batch | undefined {
    if (this.weight(place) === 0 || !this.due(place)) return undefined;
    const { session, stage, step, clock } = place;
    const { policy } = session;
    const random = randomStream(session.config.seed, "auxiliary", this.name, step);
    const { loss, needed } = this;
    if (needed !== undefined) {
      const tasks = this.failed.slice(0, needed);
      this.failed = this.failed.slice(needed);
      return solved(tasks, policy.tokenizer, stage.config.body.rollout);
    }
    switch (loss.data.from) {
      case "solutions": {
        const drawn = drawByWeight(stage.curriculum, loss.rows, random, clock);
        return solved(
          drawn.map(({ task }) => task),
          policy.tokenizer,
          stage.config.body.rollout,
        );
      }
      case "text": {
        const { text } = this;
        if (text === undefined) return undefined;
        const last = Math.max(1, text.length - loss.data.length + 1);
        return piecesOf(
          text,
          Array.from({ length: loss.rows }, () => random.integer(last)),
          loss.data.length,
        );
      }
      case "successes":
      case "file": {
        const kept = this.memory.rows;
        const rows = withoutReplacement([...kept.keys()], loss.rows, random).map((at) => kept[at]!);
        if (rows.length === 0) return undefined;
        return joinBatches(
          rows.map(({ batch }) => batch),
          rows.map((_, row) => String(row)),
        );
      }
    }
  }

  get channels(): Channel[] {
    return this.loss.entropy === 0 ? ["logp"] : ["logp", "entropy"];
  }

  save(): Saved {
    const kept: Saved = this.loss.data.from === "successes" ? this.memory.save() : { json: [] };
    return {
      json: { failed: JSON.parse(JSON.stringify(this.failed)), kept: kept.json },
      arrays: kept.arrays ?? {},
    };
  }
  load({ json, arrays = {} }: Saved): void {
    const { failed, kept } = savedSchema.parse(json);
    this.failed = failed;
    if (this.loss.data.from === "successes") this.memory.load({ json: kept, arrays });
  }
}

const savedSchema = z.object({
  failed: z.array(z.custom<Task>((value) => typeof value === "object" && value !== null)),
  kept: z.json(),
});

export class AuxiliaryLosses implements Stateful {
  readonly demonstrations: readonly Demonstrations[];
  private readonly reweighting: Reweighting | undefined;
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
    for (const { loss } of made) {
      if (loss.kind === "reweighting") this.reweighting = new Reweighting(loss.window, loss.temperature);
      if (loss.kind === "privacy") this.private = loss;
    }
  }

  notice(place: Place, collected: Collected, advantages: StepAdvantages): void {
    for (const one of this.demonstrations) one.notice(place, collected, advantages);
  }

  /** Losses that share the policy's own optimiser steps now. */
  joined(place: Place): LossPart[] {
    return this.demonstrations.flatMap((one) => {
      const batch = one.config.place === "joined" ? one.rows(place) : undefined;
      return batch === undefined ? [] : [this.part(place, one, batch)];
    });
  }

  private part(place: Place, one: Demonstrations, batch: Batch): LossPart {
    const weight = one.weight(place) * this.factor(one.name);
    return { name: one.name, batch, channels: one.channels, weigh: demonstrated(one.loss.entropy), weight };
  }

  /** Optimiser steps of their own. */
  async alone(place: Place): Promise<UpdateStats[]> {
    const { stage, session, clock } = place;
    const updates: UpdateStats[] = [];
    for (const one of this.demonstrations) {
      const batch = one.config.place === "alone" ? one.rows(place) : undefined;
      if (batch === undefined) continue;
      const { channels, weigh, weight } = this.part(place, one, batch);
      const plan: UpdatePlan = {
        channels,
        unit: "sequence",
        lr_scale: one.optimizer === undefined ? rateAt(stage.config.body.update.schedule, clock) : 1,
        ...(one.optimizer && { optimizer: { name: one.name, choice: one.optimizer } }),
        ...this.privacy(place),
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
    return this.reweighting?.weights().get(name) ?? 1;
  }

  privacy({ session, step }: Place): Pick<UpdatePlan, "per_sequence_clip" | "noise"> {
    if (this.private === undefined) return {};
    const { clip, noise } = this.private;
    const random = randomStream(session.config.seed, "gradient noise", step, session.policy.version);
    return { per_sequence_clip: clip, ...(noise > 0 && { noise: { deviation: noise * clip, random } }) };
  }

  /** Takes note of the losses of a step. */
  learned(updates: readonly UpdateStats[]): void {
    this.noisy += updates.filter(({ metrics }) => metrics["update/skipped"] !== 1).length;
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
    const weights = [...(this.reweighting?.weights() ?? [])].map(([name, weight]) => [
      `loss/${name}/weight`,
      weight,
    ]);
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
    const parts = this.demonstrations.map((one) => [one.name, one.save()] as const);
    const own = this.reweighting?.save();
    const all: (readonly [string, Saved])[] = own === undefined ? parts : [...parts, ["", own]];
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
    for (const one of this.demonstrations) if (states[one.name] !== undefined) one.load(of(one.name));
    if (states[""] !== undefined) this.reweighting?.load(of(""));
  }
}

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
