/**
 * From a model's file to the device, one weight at a time: read, uploaded, folded, dropped. What a load holds at its
 * peak is the folded model and the largest weight, not the model three times over.
 */
import { reading, type OpenWeights } from "./formats/model.ts";
import type { Programs } from "./programs.ts";
import { freeAll, take, type DeviceTensor } from "./runtime.ts";
import { foldedNames, foldedShapes, foldSources } from "./transformer/fold.ts";
import { weightShapes } from "./transformer/weights.ts";

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
      for (const name of foldedNames(shape)) {
        const { names, plain } = foldSources(shape, name);
        const [source = name] = names;
        if (plain) {
          const tensor = unchanged.get(source) ?? runtime.upload(read(source), take(extents, name));
          unchanged.set(source, tensor);
          folded[name] = tensor;
          continue;
        }
        const given = building((into) => {
          for (const own of names) into[own] = runtime.upload(read(own), take(sources, own));
        });
        try {
          folded[name] = programs.foldMatrix(name, given);
        } finally {
          freeAll(given);
        }
      }
    }),
  );

const uploaded = (programs: Programs, open: OpenWeights, names: readonly string[]): Owned => {
  const shapes = weightShapes(programs.shape);
  if (names.length === 0) return {};
  return reading(open, (read) =>
    building((into) => {
      for (const name of names) into[name] = programs.runtime.upload(read(name), take(shapes, name));
    }),
  );
};
/** Every weight of a model as it is. */
export const uploadAll = (programs: Programs, open: OpenWeights): Owned =>
  uploaded(programs, open, Object.keys(weightShapes(programs.shape)));
/** A few of them. */
export const readFrozen = uploaded;
