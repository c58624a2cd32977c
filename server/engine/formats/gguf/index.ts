/** Models in one GGUF file, as llama.cpp reads and writes them. */
import { weightShapes, type Shape } from "../../transformer/weights.ts";
import { take, countOf } from "../../../core/ops.ts";
import type { ModelHead, WeightReader } from "../model.ts";
import { unpacked } from "./blocks.ts";
import { fresh, Scratch } from "../../devices/scratch.ts";
import { ggufError, readHeader, type Header, type TensorInfo } from "./header.ts";
import { placeIn, placesOf, type GgufTensor } from "./places.ts";
import { shapeOf } from "./shape.ts";
import { TensorFile } from "./tensors.ts";
import { tokenizerOf } from "./tokenizer.ts";

export { writeGguf, type GgufModel } from "./write.ts";

/** Size, style and tokenizer; only the header is read. @throws UserError naming the file and what is wrong */
export function readGgufHead(path: string): ModelHead {
  const header = readHeader(path);
  return { kind: "gguf", path, shape: shapeOf(header), tokenizer: tokenizerOf(header) };
}

/** The size alone. @throws UserError naming the file and what is wrong */
export const readGgufShape = (path: string): Shape => shapeOf(readHeader(path));

/** Tensors that say nothing about weights: the stretch of rotary frequencies is part of the shape. */
const WITHOUT_WEIGHTS = new Set(["rope_freqs.weight"]);

/** The file, open: its tensors become 32-bit floats when they are read. */
class FileWeights implements WeightReader {
  private readonly places = new Map<string, { readonly place: GgufTensor; readonly tensor: TensorInfo }[]>();
  private readonly extents: ReturnType<typeof weightShapes>;
  private readonly file: TensorFile;
  private readonly scratch = new Scratch();

  constructor(header: Header, shape: Shape) {
    this.extents = weightShapes(shape);
    for (const place of checkedPlaces(header, shape)) {
      const own = this.places.get(place.weight) ?? [];
      this.places.set(place.weight, [...own, { place, tensor: find(header, place) }]);
    }
    this.file = new TensorFile(header);
  }
  /** Stands until the next tensor is unpacked. */
  private unpacked(tensor: TensorInfo): Float32Array {
    return unpacked(tensor.type, this.file.bytes(tensor), this.scratch.floats);
  }
  read(weight: string, room = fresh): Float32Array {
    const places = this.places.get(weight) ?? [];
    const [first] = places;
    if (first?.place.kind === "table")
      return unpacked(first.tensor.type, this.file.bytes(first.tensor), room);
    const values = room(countOf(take(this.extents, weight)));
    for (const { place, tensor } of places) placeIn(place, this.unpacked(tensor), values);
    return values;
  }
  close(): void {
    this.file.close();
  }
}

/**
 * Every weight as 32-bit floats.
 *
 * @throws UserError naming a tensor that is missing, has other extents, or belongs to no weight.
 */
export const openGgufWeights = (path: string, shape: Shape): WeightReader =>
  new FileWeights(readHeader(path), shape);

/** That every weight is there, by the header alone. @throws UserError as reading them would */
export const checkGgufWeights = (path: string, shape: Shape): void =>
  new FileWeights(readHeader(path), shape).close();

/** Where each weight lies, when the file holds nothing else. */
function checkedPlaces(header: Header, shape: Shape): GgufTensor[] {
  const places = placesOf(shape);
  const known = new Set(places.map(({ tensor }) => tensor));
  const strange = [...header.tensors.keys()].find((name) => !known.has(name) && !WITHOUT_WEIGHTS.has(name));
  if (strange !== undefined)
    throw ggufError(
      header.file,
      `it has the tensor ${strange}, which a ${shape.style.family} model does not use`,
      "Use a plain model of that architecture: no mixture of experts, no vision part.",
    );
  return places;
}

function find(header: Header, { tensor, extents }: GgufTensor): TensorInfo {
  const found = header.tensors.get(tensor);
  if (found === undefined) throw ggufError(header.file, `it lacks the tensor ${tensor}`);
  if (found.extents.join() !== extents.join())
    throw ggufError(
      header.file,
      `the tensor ${tensor} should have the extents [${extents.join(", ")}] but has [${found.extents.join(", ")}]`,
    );
  return found;
}
