/** Optimisers beside the policy's own, each with a memory of its own, made when they are first named. */
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import { Optimizer, type OptimizerState } from "./optimizer.ts";
import type { Programs } from "../passes/programs.ts";

export class NamedOptimizers {
  private readonly known = new Map<string, Optimizer>();

  constructor(
    private readonly programs: Programs,
    private readonly trained: ConstructorParameters<typeof Optimizer>[2],
  ) {}

  /** With the hyper-parameters of `choice` from now on. */
  of(name: string, choice: OptimizerChoice): Optimizer {
    const found = this.known.get(name) ?? new Optimizer(this.programs, choice, this.trained);
    found.choice = choice;
    this.known.set(name, found);
    return found;
  }
  read(name: string): OptimizerState | undefined {
    return this.known.get(name)?.read();
  }
  close(): void {
    for (const optimizer of this.known.values()) optimizer.close();
  }
}
