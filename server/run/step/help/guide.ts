/** A stage's guidance, made of its choices. */
import { z } from "zod";
import type { Json } from "../../../../shared/lib/json.ts";
import { create } from "../../../core/create.ts";
import type { GuidanceConfig, StageBody } from "../../../core/config/resolved.ts";
import type { GuidanceAmount, GuidanceSource, GuidanceTrigger } from "../../../core/slots/guidance.ts";
import type { Saved } from "../../../core/basics.ts";
import type { CreateContext } from "../../../core/declaration.ts";

const savedParts = z.object({ amount: z.json().optional(), source: z.json().optional() });

/** Guidance of a stage, made of its choices. */
export class Guide {
  readonly trigger: GuidanceTrigger;
  readonly source: GuidanceSource;
  readonly amount: GuidanceAmount;

  private constructor(
    readonly config: GuidanceConfig,
    context: CreateContext,
  ) {
    this.trigger = create(config.trigger, context);
    this.source = create(config.source, context);
    this.amount = create(config.amount, context);
  }

  /** What its parts know from one step to the next; undefined: nothing. */
  save(): Saved | undefined {
    const parts = { amount: this.amount.save?.().json, source: this.source.save?.().json };
    const known = Object.entries(parts).filter((one): one is [string, Json] => one[1] !== undefined);
    return known.length === 0 ? undefined : { json: Object.fromEntries(known) };
  }
  load({ json }: Saved): void {
    const { amount, source } = savedParts.parse(json);
    if (amount !== undefined) this.amount.load?.({ json: amount });
    if (source !== undefined) this.source.load?.({ json: source });
  }

  /** undefined where no rollout is helped. */
  static of({ guidance }: StageBody, context: CreateContext): Guide | undefined {
    return guidance.trigger.declaration.name === "none" ? undefined : new Guide(guidance, context);
  }

  /** Whether plain rollouts must be scored before members are chosen. */
  get looksAfter(): boolean {
    const { enter } = this.config;
    return this.trigger.looks === "after" || this.source.reads === "attempt" || enter === "successes";
  }
}
