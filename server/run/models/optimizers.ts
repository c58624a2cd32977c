/** What optimisers other than the policy's own remember, for checkpoints. */
import { z } from "zod";
import type { OptimizerChoice } from "../../core/slots/optimizer.ts";
import type { TrainablePolicy } from "../../engine/index.ts";
import type { Saved } from "../../core/basics.ts";

const stateSchema = z.record(
  z.string(),
  z.object({ method: z.string(), updates: z.number(), shapes: z.record(z.string(), z.array(z.number())) }),
);

export function saveOptimizers(policy: TrainablePolicy, names: Iterable<string>): Saved {
  const states = [...names].flatMap((name) => {
    const state = policy.readOptimizer(name);
    return state === undefined ? [] : [{ name, ...state }];
  });
  return {
    json: Object.fromEntries(
      states.map(({ name, method, updates, tensors }) => [
        name,
        {
          method,
          updates,
          shapes: Object.fromEntries(Object.entries(tensors).map(([key, { shape }]) => [key, [...shape]])),
        },
      ]),
    ),
    arrays: Object.fromEntries(
      states.flatMap(({ name, tensors }) =>
        Object.entries(tensors).map(([key, { data }]) => [`${name}/${key}`, Float32Array.from(data)]),
      ),
    ),
  };
}

export function loadOptimizers(
  policy: TrainablePolicy,
  choices: ReadonlyMap<string, OptimizerChoice>,
  { json, arrays = {} }: Saved,
): void {
  for (const [name, { method, updates, shapes }] of Object.entries(stateSchema.parse(json))) {
    const choice = choices.get(name);
    if (choice === undefined) continue;
    const tensors = Object.entries(shapes).map(([key, shape]) => [
      key,
      { shape, data: Float32Array.from(arrays[`${name}/${key}`] ?? []) },
    ]);
    policy.writeOptimizer(name, choice, { method, updates, tensors: Object.fromEntries(tensors) });
  }
}
