/**
 * What is known of models by their names alone: shape, chat template, tokens. A name that the table does not know for
 * certain gives undefined, so rules stay silent about it.
 */
import type { ChatTemplate } from "./chatTemplates.ts";
import { deepseekFamilies } from "./familiesDeepSeek.ts";
import { llamaFamilies } from "./familiesLlama.ts";
import { otherFamilies } from "./familiesOther.ts";
import { qwenFamilies } from "./familiesQwen.ts";
import {
  architectureOf,
  publishedNames,
  type Architecture,
  type ModelFamily,
  type NamedModel,
} from "./familyModel.ts";
import { modelNameOf, plainName, type Upload } from "./modelName.ts";

export type { ChatTemplate, Think } from "./chatTemplates.ts";
export type { Architecture, ModelFamily, Source } from "./familyModel.ts";

/** Every row. */
export const modelFamilies: readonly ModelFamily[] = [
  ...qwenFamilies,
  ...deepseekFamilies,
  ...llamaFamilies,
  ...otherFamilies,
];

/** What a name says of a model. */
export type FamilyMatch =
  | {
      /** The name is that of a published model: its makers', a known copy or conversion, or a folder with its name. */
      readonly exact: true;
      readonly family: ModelFamily;
      /** The variant's id, as `base`, `instruct`, `hybrid`, `thinking`. */
      readonly variant: string;
      /** As it stands in names; undefined where they have none. */
      readonly size: string | undefined;
      readonly architecture: Architecture;
      /** undefined: no source says it, or the variant has none. Without `eos` and `pad` for copies of others. */
      readonly template: ChatTemplate | undefined;
    }
  /** The name starts with a published one and goes on, or somebody published it again: it may be trained further. */
  | { readonly exact: false; readonly family: ModelFamily };

/** Accounts that copy or convert models without training them. Some change the pad token. */
const copiers = new Set([
  "ai-modelscope",
  "bartowski",
  "casperhansen",
  "llm-research",
  "lmstudio-community",
  "mlx-community",
  "modelscope",
  "neuralmagic",
  "openai-mirror",
  "redhatai",
  "thebloke",
  "unsloth",
]);

const published: ReadonlyMap<string, NamedModel> = new Map(
  modelFamilies.flatMap(publishedNames).map(([name, model]) => [plainName(name), model]),
);

/** The family of the model that a Hub id, an address or a path names; undefined if the name is not certain. */
export function familyOf(model: string): FamilyMatch | undefined {
  const written = modelNameOf(model);
  if (written === undefined) return undefined;
  const named = published.get(written.name);
  if (named === undefined) return derived(written.name);
  const whose = holder(written.upload, named.family);
  if (whose === "somebody") return { exact: false, family: named.family };
  const { template } = named.variant;
  return {
    exact: true,
    family: named.family,
    variant: named.variant.id,
    size: named.size,
    architecture: architectureOf(named),
    template: template !== undefined && whose === "copier" ? withoutTokens(template) : template,
  };
}

/** Who holds the copy that is meant. A folder with a published name is taken for its makers'. */
function holder(upload: Upload, family: ModelFamily): "maker" | "copier" | "somebody" {
  if (upload.kind === "folder") return "maker";
  if (upload.kind === "output") return "somebody";
  if (family.makers.includes(upload.account)) return "maker";
  return copiers.has(upload.account) ? "copier" : "somebody";
}

function withoutTokens({ eos: _eos, pad: _pad, ...rest }: ChatTemplate): ChatTemplate {
  return rest;
}

/**
 * The family of a name that goes on after a published one: `Qwen2.5-7B-mine-grpo`. Only names with a size count: what
 * follows `DeepSeek-R1` may be any model.
 */
function derived(name: string): FamilyMatch | undefined {
  for (let end = name.lastIndexOf("-"); end > 0; end = name.lastIndexOf("-", end - 1)) {
    const start = name.slice(0, end);
    const named = published.get(start);
    if (named !== undefined && /\d[bm](?:-|$)/.test(start)) return { exact: false, family: named.family };
  }
  return undefined;
}
