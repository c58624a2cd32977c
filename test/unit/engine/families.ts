/** Checkpoints that transformers made of every family, with what torch computed from them (test/fixtures/architectures). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { fold } from "../../../server/engine/transformer/fold.ts";
import { forward } from "../../../server/engine/transformer/forward.ts";
import { rotaryExtents, rotaryTable } from "../../../server/engine/transformer/positions.ts";
import { weightShapes, type Shape } from "../../../server/engine/transformer/weights.ts";
import { take, type Named, type Ops } from "../../../server/core/ops.ts";
import {
  floats,
  freeAll,
  prefixed,
  under,
  type ProgramSpec,
  type Runtime,
} from "../../../server/engine/devices/runtime.ts";
import type { RowSpec } from "./support.ts";

export const familyNames = ["llama", "llama-tied", "mistral", "qwen2", "qwen3", "gemma3", "gpt2"] as const;
export type FamilyName = (typeof familyNames)[number];
export const folderOf = (name: FamilyName): string => join("test", "fixtures", "architectures", name);

const numbers = z.array(z.number());
const expectedSchema = z.object({
  rows: z.array(z.object({ context: numbers, tokens: numbers })),
  logits: z.array(numbers),
  logp: z.array(numbers),
  loss: z.number(),
  gradients: z.record(
    z.string(),
    z.object({ norm: z.number(), entries: z.array(z.tuple([z.int(), z.number()])) }),
  ),
  adamw: z.object({
    lr: z.number(),
    betas: z.tuple([z.number(), z.number()]),
    eps: z.number(),
    weight_decay: z.number(),
  }),
  losses: numbers,
});
export const expectedOf = (name: FamilyName): z.output<typeof expectedSchema> =>
  expectedSchema.parse(JSON.parse(readFileSync(join(folderOf(name), "expected.json"), "utf8")));

const float = (rank: number) => ({ dtype: "float" as const, rank });
const logitsSpec = (shape: Shape): ProgramSpec => ({
  name: "logits",
  feeds: {
    ...prefixed(
      "w/",
      Object.fromEntries(
        Object.entries(weightShapes(shape)).map(([name, extents]) => [name, float(extents.length)]),
      ),
    ),
    rotary: float(3),
    ids: { dtype: "int", rank: 2 },
  },
  build<T>(ops: Ops<T>, feeds: Named<T>) {
    const folded = fold(ops, shape, under(feeds, "w/"));
    const kept = forward(ops, shape, folded, take(feeds, "ids"), take(feeds, "rotary"));
    return { logits: ops.matmul(take(kept, "y"), take(folded, "head"), false, true) };
  },
});

/** Logits at every position of each row, `[tokens · vocabulary]`, from the model's own forward pass. */
export function logitsOf(
  runtime: Runtime,
  shape: Shape,
  weights: Named<Float32Array>,
  rows: readonly RowSpec[],
): Float32Array[] {
  const program = runtime.compile(logitsSpec(shape));
  const fixed = {
    ...prefixed(
      "w/",
      Object.fromEntries(
        Object.entries(weightShapes(shape)).map(([name, extents]) => [
          name,
          runtime.upload(take(weights, name), extents),
        ]),
      ),
    ),
    rotary: runtime.upload(rotaryTable(shape), rotaryExtents(shape)),
  };
  const results = rows.map(({ context, tokens }) => {
    const ids = Int32Array.from([...context, ...tokens]);
    const feed = runtime.upload(ids, [1, ids.length]);
    const { logits } = program.run({ ...fixed, ids: feed });
    const values = floats(logits!);
    feed.free();
    logits!.free();
    return values;
  });
  freeAll(fixed);
  return results;
}
