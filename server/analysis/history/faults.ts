/** What went wrong with a curriculum while a history went through it. */
import type { Fault } from "../../algorithm/curriculum/curriculumFaults.ts";

/** A kind of fault, as its first step reports it. */
export interface ReplayFault extends Fault {
  readonly step: number;
  /** Other steps with a fault of the kind. */
  readonly more: number;
}

/** Gathers them, each kind once: a signal that is no number is none in many steps. */
export class ReplayFaults {
  private readonly kinds = new Map<string, { readonly first: Fault; readonly steps: Set<number> }>();

  saw(step: number, faults: readonly Fault[]): void {
    for (const first of faults) {
      const known = this.kinds.get(first.code) ?? { first, steps: new Set() };
      known.steps.add(step);
      this.kinds.set(first.code, known);
    }
  }

  all(): ReplayFault[] {
    return [...this.kinds.values()].map(({ first, steps }) => {
      const [step] = steps;
      return { ...first, step: step!, more: steps.size - 1 };
    });
  }
}
