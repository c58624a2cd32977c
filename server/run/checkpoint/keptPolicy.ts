/**
 * The policy as the last evaluation kept it, next to the run's models: `models/kept-<steps done>`. Its weights, its
 * optimisers and the copies that follow it go back together; other models, and what was learned of the tasks, stay.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import type { Session } from "../loop/session.ts";
import { loadOptimizers, saveOptimizers } from "../models/optimizers.ts";
import { checkpointSteps, policyFolder, readState, writeWhole } from "./checkpoint.ts";

const prefix = "kept-";
const copiesFolder = "copies";

export class KeptPolicy {
  constructor(
    private readonly session: Pick<Session, "policy" | "models">,
    private readonly run: string,
    private readonly optimizers: () => ReadonlyMap<string, OptimizerChoice>,
  ) {}

  private folder(done: number): string {
    return join(this.run, "models", `${prefix}${done}`);
  }

  async keep(done: number): Promise<void> {
    const { policy, models } = this.session;
    const parts = { optimizers: saveOptimizers(policy, this.optimizers().keys()) };
    await writeWhole(this.folder(done), { step: done - 1, loop: null, parts }, async (folder) => {
      await policy.save(join(folder, policyFolder));
      models.saveCopies("policy", join(folder, copiesFolder));
    });
  }

  /** The weights are none that any rollout was written with at this version: it goes on counting. */
  async putBack(done: number): Promise<void> {
    const { policy, models } = this.session;
    const folder = this.folder(done);
    const { optimizers } = readState(folder).parts;
    await policy.load(join(folder, policyFolder), policy.version + 1);
    models.restoreCopies("policy", join(folder, copiesFolder));
    if (optimizers !== undefined) loadOptimizers(policy, this.optimizers(), optimizers);
  }

  /** Clears what no checkpoint goes on from: of those before the oldest of the latest `keep`, all but the last. */
  prune(keep: number): void {
    const [oldest] = checkpointSteps(this.run).slice(-Math.max(1, keep));
    if (oldest === undefined) return;
    const before = this.there().filter((done) => done <= oldest + 1);
    this.remove(before.slice(0, -1));
  }

  /** An attempt goes on from a checkpoint: what the one before kept after it is none of its own. */
  goOn(done: number, kept: number | undefined): void {
    this.remove(this.there().filter((one) => one > done || (one === done && one !== kept)));
  }

  /** Steps done of each that is there, ascending. */
  private there(): number[] {
    const models = join(this.run, "models");
    return (existsSync(models) ? readdirSync(models) : [])
      .filter((name) => name.startsWith(prefix))
      .map((name) => Number(name.slice(prefix.length)))
      .sort((a, b) => a - b);
  }
  private remove(which: readonly number[]): void {
    for (const done of which) rmSync(this.folder(done), { recursive: true, force: true });
  }
}
