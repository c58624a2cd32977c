/** A likelihood in addition to the objective: when it is due, and on what rows. */
import { z } from "zod";
import { joinBatches } from "../../core/rows/joinBatches.ts";
import { valueAt } from "../../core/schedule.ts";
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import type { AuxiliaryConfig } from "../../core/config/resolved.ts";
import { randomStream } from "../../lib/random.ts";
import { Memory } from "../../methods/replay/memory.ts";
import { withoutReplacement } from "../../methods/replay/draws/drawing.ts";
import type { Task } from "../../core/task.ts";
import type { Auxiliary } from "../../core/slots/auxiliary.ts";
import type { Saved, Stateful } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Channel, Weigh } from "../../core/policy.ts";
import type { Selected, StepContext, StepAdvantages } from "../step/context.ts";
import { correctionsOf } from "./corrections.ts";
import { piecesOf } from "./demonstrations.ts";
import { keptRow } from "../step/replay/keptRows.ts";
import { drawByWeight } from "./byWeight.ts";
import { solved } from "./supervised.ts";

type Likelihood = Extract<Auxiliary, { kind: "likelihood" }>;

/** What a likelihood is made of in addition to the likelihood itself. */
type LikelihoodTerms = Pick<Likelihood, "entropy" | "gap">;

const channelsOf = ({ entropy, gap }: LikelihoodTerms): Channel[] => [
  "logp",
  ...(entropy === 0 ? [] : (["entropy"] as const)),
  ...(gap === 0 ? [] : (["greedy"] as const)),
];

/** L = Σ (−log π − c·H + g·[max log π − log π]) / tokens, over the tokens that train. */
export const demonstrated = (terms: LikelihoodTerms): Weigh => {
  const slopes: Partial<Record<Channel, number>> = {
    logp: -1 - terms.gap,
    entropy: -terms.entropy,
    greedy: terms.gap,
  };
  return (now, batch) => {
    const count = batch.mask.reduce((sum, one) => sum + one, 0);
    const gradients: Partial<Record<Channel, Float64Array>> = {};
    let loss = 0;
    for (const channel of channelsOf(terms)) {
      const [values, slope] = [now[channel], (slopes[channel] ?? 0) / count];
      gradients[channel] = Float64Array.from(batch.mask, (one) => (one === 0 ? 0 : slope));
      batch.mask.forEach((one, t) => {
        if (one !== 0) loss += slope * (values?.[t] ?? 0);
      });
    }
    return { loss, gradients };
  };
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
      "capacity" in data ? data.capacity : data.from === "file" ? Number.MAX_SAFE_INTEGER : 0,
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

  /** Takes note of what failed and what succeeded in a step, and has rollouts corrected. */
  async notice(context: StepContext, selected: Selected, advantages: StepAdvantages): Promise<void> {
    const { clock, step } = context;
    if (this.needed !== undefined) {
      const fresh = selected.groups
        .filter(
          ({ rewards, successes, task }) =>
            rewards.length > 0 && successes === 0 && task.solution !== undefined,
        )
        .map(({ task }) => task);
      const ids = new Set(fresh.map(({ id }) => id));
      this.failed = [...fresh, ...this.failed.filter(({ id }) => !ids.has(id))].slice(0, 4 * this.needed);
    }
    const { data } = this.loss;
    if (data.from === "corrections")
      this.memory.keep(await correctionsOf(context, selected, data), () => true, clock.step);
    if (data.from !== "successes") return;
    const { batch, scored } = selected;
    const rows = [...scored.success.keys()].filter((row) => scored.success[row] === 1);
    this.memory.keep(
      rows.map((row) => keptRow(selected, advantages.all, row, clock.step, `${step}/${batch.group[row]}`)),
      () => true,
      clock.step,
    );
  }

  /** As the config has it now: a live setting may change it. */
  weight({ stage, clock }: StepContext): number {
    return valueAt((stage.config.body.auxiliary[this.index] ?? this.config).weight, clock);
  }

  private due({ clock, stage }: StepContext): boolean {
    const { when } = this.config;
    if (when === "always") return true;
    const { every, last, all_failed = 1 } = when;
    if (every !== undefined) return (clock.stageStep + 1) % every === 0;
    if (last !== undefined) return clock.stageStep >= stage.config.steps - last;
    return this.failed.length >= all_failed;
  }

  /**
   * Rows to learn from now; undefined where it is not due or there are none.
   * @param draw another one gives other rows of the same step
   */
  rows(context: StepContext, draw = ""): Batch | undefined {
    if (this.weight(context) === 0 || !this.due(context)) return undefined;
    const { session, stage, step, clock } = context;
    const { policy } = session;
    const stream = randomStream(session.config.seed, "auxiliary", this.name, step);
    const random = draw === "" ? stream : stream.fork(draw);
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
      case "corrections":
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
    return channelsOf(this.loss);
  }

  save(): Saved {
    const kept: Saved = "capacity" in this.loss.data ? this.memory.save() : { json: [] };
    return {
      json: { failed: JSON.parse(JSON.stringify(this.failed)), kept: kept.json },
      arrays: kept.arrays ?? {},
    };
  }
  load({ json, arrays = {} }: Saved): void {
    const { failed, kept } = savedSchema.parse(json);
    this.failed = failed;
    if ("capacity" in this.loss.data) this.memory.load({ json: kept, arrays });
  }
}

const savedSchema = z.object({
  failed: z.array(z.custom<Task>((value) => typeof value === "object" && value !== null)),
  kept: z.json(),
});
