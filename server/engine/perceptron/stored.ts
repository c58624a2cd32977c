/** A perceptron in a checkpoint: its weights and what its optimiser keeps as safetensors, the rest in `state.json`. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { readFailure, UserError } from "../../../shared/lib/errors.ts";
import type { OptimizerState } from "../weights/optimizer.ts";
import type { Named } from "../../core/ops.ts";
import { readSafetensors, writeSafetensors } from "../weights/safetensors.ts";
import { activations, type PerceptronShape } from "../../core/blocks/models.ts";
import { perceptronWeights } from "./layers.ts";

interface StoredPerceptron {
  readonly shape: PerceptronShape;
  /** Updates so far. */
  readonly version: number;
  readonly weights: Named<Float32Array>;
  readonly optimizer: OptimizerState;
}

const [STATE, WEIGHTS, OPTIMIZER] = ["state.json", "perceptron.safetensors", "optimizer.safetensors"];
const size = z.int().positive();
const stateSchema = z.object({
  shape: z.object({
    inputs: size,
    widths: z.array(size),
    outputs: size,
    activation: z.enum(activations),
  }),
  version: z.int().nonnegative(),
  updates: z.int().nonnegative(),
  optimizer: z.string(),
});

export function writePerceptron(
  folder: string,
  { shape, version, weights, optimizer }: StoredPerceptron,
): void {
  mkdirSync(folder, { recursive: true });
  const tensors = Object.entries(perceptronWeights(shape)).map(
    ([name, extents]) => [name, { shape: extents, data: weights[name]! }] as const,
  );
  writeSafetensors(join(folder, WEIGHTS), Object.fromEntries(tensors));
  writeSafetensors(join(folder, OPTIMIZER), optimizer.tensors);
  const state = { shape, version, updates: optimizer.updates, optimizer: optimizer.method };
  writeFileSync(join(folder, STATE), `${JSON.stringify(state, null, 2)}\n`, { flush: true });
}

function readState(file: string): z.output<typeof stateSchema> {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const reason = error instanceof z.ZodError ? "it does not describe a perceptron" : readFailure(error);
    throw new UserError(`${file} cannot be read: ${reason}.`, {
      file,
      code: "checkpoint-config",
      action: "Use another checkpoint of the run: this one is damaged.",
      cause: error,
    });
  }
}

/** @throws UserError naming the file and what is wrong with it */
export function readPerceptron(folder: string, shape: PerceptronShape): StoredPerceptron {
  const file = join(folder, STATE);
  const { shape: stored, version, updates, optimizer } = readState(file);
  if (!isDeepStrictEqual(stored, shape))
    throw new UserError(
      `The perceptron of ${folder} is ${described(stored)} where the config has ${described(shape)}.`,
      {
        file,
        code: "checkpoint-shape",
        action: "Give the model the size that it was trained with, or start a new run.",
      },
    );
  const weights = Object.entries(readSafetensors(join(folder, WEIGHTS)));
  return {
    shape,
    version,
    weights: Object.fromEntries(weights.map(([name, { data }]) => [name, data])),
    optimizer: { method: optimizer, updates, tensors: readSafetensors(join(folder, OPTIMIZER)) },
  };
}
const described = ({ inputs, widths, outputs, activation }: PerceptronShape): string =>
  `${[inputs, ...widths, outputs].join("-")} ${activation}`;
