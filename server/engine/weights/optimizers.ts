/** A policy's own optimiser, and those that updates name: each steps the same weights and keeps its own moments. */
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import type { UpdatePlan } from "../../core/policy.ts";
import { trainedOf } from "../parts.ts";
import type { Programs } from "../passes/programs.ts";
import { Optimizer, type OptimizerState } from "./optimizer.ts";

export class Optimizers {
  readonly own: Optimizer;
  /** Made when an update first names them. */
  private readonly named = new Map<string, Optimizer>();

  constructor(
    private readonly programs: Programs,
    choice: OptimizerChoice,
  ) {
    this.own = new Optimizer(programs, choice, trainedOf(programs.parts));
  }

  /** The optimiser of an update. */
  of({ optimizer }: Pick<UpdatePlan, "optimizer">): Optimizer {
    return optimizer === undefined ? this.own : this.call(optimizer.name, optimizer.choice);
  }
  /** With the hyper-parameters of `choice` from now on. */
  private call(name: string, choice: OptimizerChoice): Optimizer {
    const found =
      this.named.get(name) ?? new Optimizer(this.programs, choice, trainedOf(this.programs.parts));
    found.choice = choice;
    this.named.set(name, found);
    return found;
  }
  read(name: string): OptimizerState | undefined {
    return this.named.get(name)?.read();
  }
  write(name: string, choice: OptimizerChoice, state: OptimizerState): void {
    this.call(name, choice).write(state);
  }
  close(): void {
    this.own.close();
    for (const optimizer of this.named.values()) optimizer.close();
  }
}
