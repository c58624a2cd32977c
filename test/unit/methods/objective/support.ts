/** Rows written by hand, as inputs to an objective. */
import assert from "node:assert/strict";
import type { z } from "zod";
import type { Declaration } from "../../../../server/core/declaration.ts";
import { sequenceMean } from "../../../../server/methods/objective/aggregates/sequenceMean.ts";
import type { Weighed } from "../../../../server/core/policy.ts";
import type { ObjectiveInput } from "../../../../server/core/loss.ts";
import { batchOf, made, near, row } from "../../support.ts";
import { factorsOf } from "./differences.ts";

export interface Row {
  /** Per token: log-ratio to the reference and to the old weights, where 0 is −1 in both. */
  readonly ratios: readonly number[];
  readonly reward?: number;
  readonly advantage?: number;
  readonly group?: string;
  readonly pair?: string;
  readonly values?: readonly number[];
  readonly turns?: readonly (readonly [number, number])[];
}

export function inputOf(rows: readonly Row[], more: Partial<ObjectiveInput> = {}): ObjectiveInput {
  const batch = batchOf(
    rows.map(({ ratios, group = "g", pair, turns }, index) =>
      row(group, index, {
        tokens: ratios.map(() => 1),
        ...(pair === undefined ? {} : { pair }),
        ...(turns === undefined
          ? {}
          : { turns: turns.map(([start, end]) => ({ role: "assistant", start, end })) }),
      }),
    ),
  );
  const total = Float64Array.from(rows, ({ reward, advantage }) => reward ?? advantage ?? 0);
  const weights = new Float64Array(batch.tokens.length).fill(1);
  const old = weights.map(() => -1);
  return {
    batch,
    now: {
      logp: Float64Array.from(rows.flatMap(({ ratios }) => ratios.map((ratio) => ratio - 1))),
      "head:value": Float64Array.from(rows.flatMap(({ values, ratios }) => values ?? ratios.map(() => 0))),
    },
    old: { logp: old, "logp:reference": old },
    advantages: Float64Array.from(
      rows.flatMap(({ ratios, advantage, reward }) => ratios.map(() => advantage ?? reward ?? 0)),
    ),
    rewards: {
      total,
      errored: new Uint8Array(rows.length),
      sources: [
        {
          name: "total",
          level: "response",
          status: new Uint8Array(rows.length),
          offsets: Int32Array.from({ length: rows.length + 1 }, (_, i) => i),
          values: total,
          errors: new Map(),
        },
      ],
    },
    success: Uint8Array.from(total, (value) => (value >= 1 ? 1 : 0)),
    clock: { step: 0, stageStep: 0 },
    weights,
    factors: factorsOf(made(sequenceMean, {}), weights, batch),
    ...more,
  };
}

export const weigh = <Params extends z.ZodObject>(
  declaration: Declaration<"objective", Params>,
  params: z.input<Params>,
  input: ObjectiveInput,
): Weighed => made(declaration, params).loss(input);
export const close = (
  actual: ArrayLike<number> | undefined,
  expected: ArrayLike<number>,
  tolerance = 1e-12,
): void => {
  assert.equal(actual?.length, expected.length);
  for (let i = 0; i < expected.length; i++)
    assert.ok(near(actual![i], expected[i]!, tolerance), `${actual![i]} and not ${expected[i]} at ${i}`);
};
