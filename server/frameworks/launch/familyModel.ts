/** What the table of model families consists of. */
import type { ChatTemplate } from "./chatTemplates.ts";

/** Where a fact was read. */
export interface Source {
  readonly what: string;
  /** The day that the copy we read is of, as in 2026-07-24. */
  readonly date: string;
}

/** A model's shape, by its own `config.json`. What no source says is left out. */
export interface Architecture {
  readonly layers?: number;
  /** Width of the residual stream. */
  readonly hidden?: number;
  /** Width of the feed-forward layers that are not experts. */
  readonly ffn?: number;
  /** Heads of queries. */
  readonly heads?: number;
  /** Heads of keys and values, where attention has them (multi-head latent attention has none of its own). */
  readonly kvHeads?: number;
  /** Rows of the embedding, the padding of the vocabulary included. */
  readonly vocab?: number;
  /** The output layer is the embedding. */
  readonly tied?: boolean;
  /** Base of the rotary embedding (`rope_theta`, `--rotary-base`). */
  readonly ropeBase?: number;
  /** Base in layers with a sliding window, where it is another one. */
  readonly localRopeBase?: number;
  /** Tokens of a prompt and its response together, as shipped (`max_position_embeddings`). */
  readonly context?: number;
  /** Tokens that its makers document with YaRN, which has to be switched on. */
  readonly longContext?: number;
}

/** Models of a family that share a chat template and a stage of training. */
export interface FamilyVariant {
  readonly id: string;
  /** Their published names without the maker's; `{}` stands for each size. */
  readonly names: readonly string[];
  /** Sizes that exist, if not all of the family's. */
  readonly only?: readonly string[];
  /** What is so for this variant, over the family's. */
  readonly architecture?: Architecture;
  /** What is so for one size of this variant, over all of the above. */
  readonly bySize?: Readonly<Record<string, Architecture>>;
  readonly template?: ChatTemplate;
}

/** A row of the table. */
export interface ModelFamily {
  readonly id: string;
  /** As a person reads it. */
  readonly name: string;
  /** Accounts of its makers on the Hub and on ModelScope, in lower case. */
  readonly makers: readonly string[];
  /** What is so for all its models. */
  readonly architecture?: Architecture;
  /** By the size as it stands in names. */
  readonly sizes: Readonly<Record<string, Architecture>>;
  readonly variants: readonly FamilyVariant[];
  readonly sources: readonly Source[];
}

/** A model's name and what is known of its bearer. */
export interface NamedModel {
  readonly family: ModelFamily;
  readonly variant: FamilyVariant;
  /** undefined: the name has none. */
  readonly size: string | undefined;
}

/** A shape in the order of a model's flags: layers, hidden, ffn, heads, heads of keys and values, vocabulary. */
export function shape(
  ...[layers, hidden, ffn, heads, kvHeads, vocab]: readonly [number, number, number, number, number, number]
): Architecture {
  return { layers, hidden, ffn, heads, kvHeads, vocab };
}

/** A family's published names, each with its variant and size. */
export function publishedNames(family: ModelFamily): readonly (readonly [string, NamedModel])[] {
  return family.variants.flatMap((variant) =>
    variant.names.flatMap((name) => {
      if (!name.includes("{}"))
        return [[name, { family, variant, size: onlySize(family, variant) }] as const];
      const sizes = variant.only ?? Object.keys(family.sizes);
      return sizes.map((size) => [name.replace("{}", size), { family, variant, size }] as const);
    }),
  );
}

/** The size of a name that does not say it: the only one that there is. */
function onlySize(family: ModelFamily, variant: FamilyVariant): string | undefined {
  const sizes = variant.only ?? Object.keys(family.sizes);
  return sizes.length === 1 ? sizes[0] : undefined;
}

/** A model's shape: the most particular fact of each kind. */
export function architectureOf({ family, variant, size }: NamedModel): Architecture {
  return {
    ...family.architecture,
    ...(size === undefined ? undefined : family.sizes[size]),
    ...variant.architecture,
    ...(size === undefined ? undefined : variant.bySize?.[size]),
  };
}
