/**
 * From a model's file to the device, one weight at a time: read, uploaded, folded, dropped. What a load holds at its
 * peak is the folded model and the largest weight, not the model three times over.
 */
import { reading, type OpenWeights } from "../formats/model.ts";
import type { Programs } from "../passes/programs.ts";
import { take, type Named } from "../../core/ops.ts";
import { freeAll, type DeviceTensor, type Runtime } from "../devices/runtime.ts";
import { Scratch } from "../devices/scratch.ts";
import { foldedNames, foldedShapes, foldSources } from "../transformer/fold.ts";
import { weightShapes } from "../transformer/weights.ts";

type Owned = Record<string, DeviceTensor>;

/** Frees what was made where making the rest fails. */
function building(build: (into: Owned) => void): Owned {
  const made: Owned = {};
  try {
    build(made);
    return made;
  } catch (error) {
    freeAll(made);
    throw error;
  }
}

/** The folded matrices of a model. A tied head is the embedding's own handle. */
export const foldStreamed = (programs: Programs, open: OpenWeights): Owned =>
  reading(open, (read) =>
    building((folded) => {
      const { runtime, shape } = programs;
      const [extents, sources] = [foldedShapes(shape), weightShapes(shape)];
      const unchanged = new Map<string, DeviceTensor>();
      const scratch = new Scratch();
      for (const name of foldedNames(shape)) {
        const { names, plain } = foldSources(shape, name);
        const [source = name] = names;
        if (plain) {
          const tensor =
            unchanged.get(source) ?? runtime.copy(read(source, scratch.floats), take(extents, name));
          unchanged.set(source, tensor);
          folded[name] = tensor;
          continue;
        }
        const given = building((into) => {
          for (const own of names) into[own] = runtime.copy(read(own, scratch.floats), take(sources, own));
        });
        try {
          folded[name] = programs.foldMatrix(name, given);
        } finally {
          freeAll(given);
        }
      }
    }),
  );

/** Values that are here already. */
export const uploadValues = (
  runtime: Runtime,
  shapes: Named<readonly number[]>,
  values: Named<Float32Array | Float64Array>,
): Owned =>
  building((into) => {
    for (const [name, extents] of Object.entries(shapes))
      into[name] = runtime.upload(take(values, name), extents);
  });

const uploaded = (programs: Programs, open: OpenWeights, names: readonly string[]): Owned => {
  const { runtime, shape } = programs;
  const shapes = weightShapes(shape);
  const scratch = new Scratch();
  if (names.length === 0) return {};
  return reading(open, (read) =>
    building((into) => {
      for (const name of names) into[name] = runtime.copy(read(name, scratch.floats), take(shapes, name));
    }),
  );
};
/** Every weight of a model as it is. */
export const uploadAll = (programs: Programs, open: OpenWeights): Owned =>
  uploaded(programs, open, Object.keys(weightShapes(programs.shape)));
/** A few of them. */
export const readFrozen = uploaded;
