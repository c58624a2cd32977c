/** Whether the weights of two models can be set next to each other. */
import { statSync } from "node:fs";
import { UserError } from "../../../shared/lib/errors.ts";
import { isPeft, openBase, type ModelHead } from "../../engine/formats/index.ts";
import { checkSameTokens } from "../../engine/tokenizers/index.ts";
import type { Shape } from "../../engine/transformer/weights.ts";

/** A model, as the person named it. */
export interface NamedModel {
  readonly name: string;
  readonly path: string;
}
export interface OpenedModel extends NamedModel {
  readonly head: ModelHead;
}

/** @throws UserError where the path holds no whole model */
export function openNamed(model: NamedModel, other: string): OpenedModel {
  const { name, path } = model;
  try {
    return { ...model, head: openBase(path) };
  } catch (error) {
    if (!(error instanceof UserError) || !statSync(path).isDirectory() || !isPeft(path)) throw error;
    throw new UserError(`${name} is an adapter without its model, so it cannot be compared with ${other}.`, {
      file: path,
      code: "diff-adapter",
      action: "Merge it into its model first, and name the merged folder.",
      cause: error,
    });
  }
}

/** In what models differ whose weights are not of the same sizes, the most telling first. */
const facts: readonly (readonly [string, (shape: Shape) => string])[] = [
  ["the architecture", ({ style }) => style.family],
  ["layers", ({ layers }) => String(layers)],
  ["the width", ({ width }) => String(width)],
  ["attention heads", ({ heads }) => String(heads)],
  ["key and value heads", ({ kv_heads }) => String(kv_heads)],
  ["the width of a head", ({ head_width }) => String(head_width)],
  ["the width of the feed-forward", ({ hidden }) => String(hidden)],
  ["the vocabulary", ({ vocabulary }) => `${vocabulary} tokens`],
  ["the head", ({ tied }) => (tied ? "the embedding's own" : "of its own")],
  ["biases", ({ style: { bias } }) => JSON.stringify(bias)],
  ["learned positions", ({ style, context }) => (style.positions === "learned" ? String(context) : "none")],
];

/** @throws UserError naming both, and what differs */
export function checkComparable(a: OpenedModel, b: OpenedModel): void {
  for (const [what, of] of facts) {
    const [one, other] = [of(a.head.shape), of(b.head.shape)];
    if (one !== other)
      throw new UserError(`${a.name} and ${b.name} are not of one shape: ${what} (${one} and ${other}).`, {
        code: "diff-shape",
        action: "Name two checkpoints of one model. `gradus runs show RUN` lists those of a run.",
      });
  }
  checkSameTokens(
    { name: a.name, tokenizer: a.head.tokenizer },
    { name: b.name, tokenizer: b.head.tokenizer },
    {
      code: "diff-vocabulary",
      so: "rows of their embeddings mean other tokens",
      action: "Name two checkpoints of one model.",
    },
  );
}
