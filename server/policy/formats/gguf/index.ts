/** Models in one GGUF file, as llama.cpp reads and writes them. */
import { countOf, weightShapes, type Shape } from "../../transformer/weights.ts";
import type { ModelHead } from "../model.ts";
import { unpacked } from "./blocks.ts";
import { ggufError, readHeader, type Header, type TensorInfo } from "./header.ts";
import { placeIn, placesOf, type Place } from "./places.ts";
import { shapeOf } from "./shape.ts";
import { withTensors } from "./tensors.ts";
import { tokenizerOf } from "./tokenizer.ts";

export { writeGguf, type GgufModel } from "./write.ts";

/** Size, style and tokenizer; only the header is read. @throws UserError naming the file and what is wrong */
export function readGgufHead(path: string): ModelHead {
  const header = readHeader(path);
  return { kind: "gguf", path, shape: shapeOf(header), tokenizer: tokenizerOf(header) };
}

/** Tensors that say nothing about weights: the stretch of rotary frequencies is part of the shape. */
const WITHOUT_WEIGHTS = new Set(["rope_freqs.weight"]);

/**
 * Every weight as 32-bit floats, one tensor of the file after the other.
 *
 * @throws UserError naming a tensor that is missing, has other extents, or belongs to no weight.
 */
export function readGgufWeights(path: string, shape: Shape): Record<string, Float32Array> {
  const header = readHeader(path);
  const places = placesOf(shape);
  const known = new Set(places.map(({ tensor }) => tensor));
  const strange = [...header.tensors.keys()].find((name) => !known.has(name) && !WITHOUT_WEIGHTS.has(name));
  if (strange !== undefined)
    throw ggufError(
      path,
      `it has the tensor ${strange}, which a ${shape.style.family} model has no use for`,
      "Use a plain model of that architecture: no mixture of experts, no vision part.",
    );
  const weights: Record<string, Float32Array> = {};
  for (const [name, extents] of Object.entries(weightShapes(shape)))
    weights[name] = new Float32Array(countOf(extents));
  withTensors(header, (read) => {
    for (const place of places) {
      const tensor = find(header, place);
      placeIn(place, unpacked(tensor.type, read(tensor)), weights[place.weight]!);
    }
  });
  return weights;
}

function find(header: Header, { tensor, extents }: Place): TensorInfo {
  const found = header.tensors.get(tensor);
  if (found === undefined) throw ggufError(header.file, `it lacks the tensor ${tensor}`);
  if (found.extents.join() !== extents.join())
    throw ggufError(
      header.file,
      `the tensor ${tensor} should have the extents [${extents.join(", ")}] but has [${found.extents.join(", ")}]`,
    );
  return found;
}
