/** The list `objective.correction`: each sees the same weights; their factors multiply, and a token that one rejects is gone. */
import type { Choice, CreateContext } from "../../core/declaration.ts";
import type { Correction, CorrectionInput } from "../../core/slots/correction.ts";
import type { Model } from "../../core/basics.ts";
import { create } from "../../core/create.ts";

interface AllCorrected {
  /** Without the rejected tokens. */
  readonly weights: Float64Array;
  readonly factors: Float64Array | undefined;
  readonly metrics: Readonly<Record<string, number>>;
  readonly touched: Readonly<Record<string, Uint8Array>>;
}

export class Corrections {
  private readonly list: readonly Correction[];

  constructor(choices: readonly Choice<"correction">[], context: CreateContext) {
    this.list = choices.map((choice) => create(choice, context));
  }

  get none(): boolean {
    return this.list.length === 0;
  }

  get models(): Model[] {
    return this.list.flatMap(({ models = [] }) => [...models]);
  }

  correct(input: CorrectionInput): AllCorrected {
    let { weights } = input;
    let factors: Float64Array | undefined;
    const metrics: Record<string, number> = {};
    const touched: Record<string, Uint8Array> = {};
    for (const correction of this.list) {
      const { kept, ...done } = correction.correct(input);
      if (kept !== undefined) weights = weights.map((weight, i) => (kept[i] === 1 ? weight : 0));
      if (done.factors !== undefined)
        factors =
          factors === undefined ? done.factors : factors.map((factor, i) => factor * done.factors![i]!);
      Object.assign(metrics, done.metrics);
      Object.assign(touched, done.touched);
    }
    return { weights, factors, metrics, touched };
  }
}
