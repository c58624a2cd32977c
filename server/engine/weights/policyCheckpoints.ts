/** A policy in a folder: weights, optimiser state, config and tokenizer. */
import { take } from "../../core/ops.ts";
import { readEvery } from "../formats/model.ts";
import { headShapes, type Parts } from "../parts.ts";
import type { PolicySetup } from "../policySetup.ts";
import { readCheckpointOf, writeCheckpoint, type Checkpoint } from "./checkpoint.ts";
import type { Optimizers } from "./optimizers.ts";
import type { PolicyWeights } from "./policyWeights.ts";

export class PolicyCheckpoints {
  constructor(
    private readonly setup: PolicySetup,
    private readonly parts: Parts,
    private readonly weights: PolicyWeights,
    private readonly optimizers: Optimizers,
  ) {}

  /** An existing folder is replaced when the new one is whole. */
  save(folder: string): void {
    const { setup, parts } = this;
    const { shape, adapter } = parts;
    const trained = this.weights.current.values;
    const heads = Object.fromEntries(
      Object.entries(headShapes(parts)).map(([name, extents]) => [
        name,
        { shape: extents, data: take(trained, name) },
      ]),
    );
    writeCheckpoint(folder, {
      shape,
      version: this.weights.version,
      tokenizer: setup.tokenizer,
      heads,
      optimizer: this.optimizers.own.read(),
      ...(adapter === undefined
        ? { weights: trained }
        : { adapter: { adapter, weights: trained }, base: setup.base ?? readEvery(shape, setup.weights) }),
    });
  }
  /** Weights, optimiser state and version. Snapshots stay. @throws UserError where it is not of such a model */
  load(folder: string): void {
    const checkpoint: Checkpoint = readCheckpointOf(folder, this.parts, this.setup.tokenizer);
    this.weights.restore(checkpoint, () => this.optimizers.own.write(checkpoint.optimizer));
  }
}
