/** What a Hydra file or a launch script builds on: other files of the workspace, or verl's own trees. */
import { join } from "node:path";
import { parseDocument } from "yaml";
import { composed } from "../text/composed.ts";
import type { Json } from "../../../shared/lib/json.ts";
import { flat, isObject, pythonic } from "../text/values.ts";
import { ownTree } from "../releases/programs/verl.ts";
import { fileReader } from "../text/fileReader.ts";

interface InheritedConfig {
  readonly base: ReadonlyMap<string, Json>;
  /** verl's own tree that it builds on. */
  readonly tree: string | undefined;
  readonly incomplete: boolean;
  /** A named file that was not found. */
  readonly missing?: string;
}

const nothing: InheritedConfig = { base: new Map(), tree: undefined, incomplete: false };

/** The file's tree; undefined if it cannot be read. A configuration is small; larger files are not read. */
export const treeOnDisk = fileReader(1 << 20, (text): Json | undefined => {
  const document = parseDocument(text, { logLevel: "silent", uniqueKeys: false });
  return document.errors.length > 0 ? undefined : pythonic(composed(document));
});

/** What the `defaults` of a primary config name. Without them its own keys are all there are. */
export function baseOfDefaults(folder: string, tree: unknown, depth = 0): InheritedConfig {
  const own = pythonic(tree);
  const entries = isObject(own) ? own["defaults"] : undefined;
  if (!Array.isArray(entries) || depth > 4) return nothing;
  return entries.reduce<InheritedConfig>((all, entry: Json) => {
    if (entry === "_self_") return all;
    const one = typeof entry === "string" ? baseOfName(folder, entry, depth + 1) : ofGroup(entry);
    return {
      base: new Map([...all.base, ...one.base]),
      tree: one.tree ?? all.tree,
      incomplete: all.incomplete || one.incomplete,
      ...missingOf(all.missing ?? one.missing),
    };
  }, nothing);
}

const missingOf = (missing: string | undefined): Pick<InheritedConfig, "missing"> =>
  missing === undefined ? {} : { missing };

/** `actor@actor_rollout_ref.actor: dp_actor`: verl's own groups, as its primary configs name them. */
function ofGroup(entry: Json): InheritedConfig {
  const [[group, choice] = ["", null]] = isObject(entry) ? Object.entries(entry) : [];
  const engine = /^(?:actor@actor_rollout_ref\.actor|model_engine)$/.test(group)
    ? /^(dp|megatron|veomni|torchtitan)/.exec(String(choice))?.[1]
    : undefined;
  if (engine !== undefined) return { ...nothing, tree: treeOfEngine(engine) };
  const known =
    /^(override )?hydra\/|^(data|ref|rollout|critic|model|reward|reward_model|algorithm|npu_profile|distillation|transfer_queue)@/;
  return { ...nothing, incomplete: !known.test(group) };
}

export const treeOfEngine = (engine: string): string =>
  engine === "dp" || engine === "fsdp" || engine === "fsdp2" ? "ppo_trainer" : `ppo_${engine}_trainer`;

/** The file of `--config-name` or of an entry of `defaults`: one next to the config, else one of verl's. */
export function baseOfName(folder: string, name: string, depth = 0): InheritedConfig {
  const path = join(folder, /\.ya?ml$/.test(name) ? name : `${name}.yaml`);
  const tree = treeOnDisk(path);
  if (isObject(tree)) {
    const below = baseOfDefaults(folder, tree, depth);
    const own = flat(tree).filter(([key]) => !/^(defaults|hydra)(\.|$)/.test(key));
    return { ...below, base: new Map([...below.base, ...own]) };
  }
  const own = ownTree.exec(name)?.[1];
  return own === undefined ? { ...nothing, incomplete: true, missing: name } : { ...nothing, tree: own };
}
