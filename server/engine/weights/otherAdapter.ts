/** The adapter of another run's checkpoint, where it has the same base. */
import { UserError } from "../../../shared/lib/errors.ts";
import { readCheckpointHead, readCheckpointOf } from "./checkpoint.ts";
import { baseOf, openWeights } from "../formats/index.ts";
import type { OpenWeights, WeightReader } from "../formats/model.ts";
import type { Parts } from "../parts.ts";
import type { PolicyTokenizer } from "../tokenizers/types.ts";
import { weightShapes, type Shape } from "../transformer/weights.ts";

/** The first weight in which two models of a shape differ; undefined: they are the same, bit by bit. */
function differing(shape: Shape, one: WeightReader, other: WeightReader): string | undefined {
  return Object.keys(weightShapes(shape)).find((name) => {
    const [own, theirs] = [one.read(name), other.read(name)];
    return own.length !== theirs.length || own.some((value, i) => value !== theirs[i]);
  });
}

/**
 * What trains under an adapter, as a checkpoint of any run has it; see `TrainablePolicy.readTrained`.
 * @param base of this policy. Where the bases lie does not matter, only what they are
 * @throws UserError where the checkpoint is of a model of other parts, or its adapter has other base weights
 */
export function otherAdapter(
  folder: string,
  parts: Parts,
  tokenizer: PolicyTokenizer,
  base: OpenWeights,
): Record<string, Float32Array> {
  const { adapter, heads } = readCheckpointOf(folder, parts, tokenizer);
  const head = baseOf(readCheckpointHead(folder));
  if (adapter === undefined || head === undefined) throw otherBase(folder, "does not name a base");
  const [own, theirs] = [base(), openWeights(head)];
  try {
    const name = differing(parts.shape, own, theirs);
    if (name !== undefined) throw otherBase(folder, `was trained on another base: ${name} differs`);
  } finally {
    own.close();
    theirs.close();
  }
  const ofHeads = Object.entries(heads).map(([name, { data }]) => [name, Float32Array.from(data)] as const);
  return { ...adapter.weights, ...Object.fromEntries(ofHeads) };
}

const otherBase = (folder: string, what: string): UserError =>
  new UserError(`The adapter of the checkpoint ${folder} ${what}.`, {
    file: folder,
    code: "merge-adapter",
    action: "Merge adapters of the same base, or export both and merge them as full models.",
  });
