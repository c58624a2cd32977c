/** The share of imitation beside reinforcement, moved from step to step. */
import { z } from "zod";
import type { Saved, Stateful } from "../../core/basics.ts";
import type { Auxiliary } from "../../core/slots/auxiliary.ts";

type Mixing = Extract<Auxiliary, { kind: "mixing" }>;

const savedSchema = z.object({ share: z.number(), target: z.number().nullable(), lr: z.number() });

export class Mixture implements Stateful {
  private share: number;
  private target: number | undefined;
  /** The rate of the policy's last update. */
  private lr = 0;

  constructor(private readonly options: Mixing) {
    this.share = options.start;
    this.target = options.entropy === "first" ? undefined : options.entropy;
  }

  /** Whether gradients are to be compared at a step of the stage. */
  compares(stageStep: number): boolean {
    return this.options.metaRate > 0 && stageStep % this.options.every === 0;
  }

  /** @param product ⟨∇L_val, ∇L_SFT − ∇L_RL⟩ */
  move(entropy: number, product: number): void {
    const { low, high, entropyRate, metaRate } = this.options;
    if (!Number.isFinite(entropy) || !Number.isFinite(product)) return;
    this.target ??= entropy;
    const moved = this.share + metaRate * this.lr * product + entropyRate * (this.target - entropy);
    this.share = Math.min(high, Math.max(low, moved));
  }

  /** An update at a rate: by it a step moves the weights. */
  updated(lr: number): void {
    this.lr = lr;
  }
  /** What the loss of that name counts. */
  factor(name: string): number {
    return name === "policy" ? 1 - this.share : this.share;
  }

  save(): Saved {
    return { json: { share: this.share, target: this.target ?? null, lr: this.lr } };
  }
  load({ json }: Saved): void {
    const { share, target, lr } = savedSchema.parse(json);
    this.lr = lr;
    this.share = share;
    this.target = target ?? undefined;
  }
}
