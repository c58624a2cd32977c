/** What a stage's kind says of its blocks, between the top level and the stage's own words. */
import type { TextKind, WrittenKind } from "../../../shared/run/stageKinds.ts";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { grammar } from "./grammar.ts";
import { merge } from "../merge.ts";
import {
  child,
  changed,
  entry,
  fromJson,
  mapNode,
  textOf,
  withEntry,
  withoutEntry,
  type MapNode,
  type Origin,
} from "../text/node.ts";

/** The copy of the policy that has not thought, which RLP compares with. */
const noThinkModel = "no_think";
/** Its decay in the paper. */
const noThinkDecay = 0.999;

interface KindBlocks {
  /** Blocks of the top level that do not reach the stage. */
  readonly instead: readonly string[];
  readonly blocks: JsonObject;
}

/** Thoughts are rewarded by what they add to the likelihood of the text that follows: RLP, and RMT on top of it. */
const gain = {
  instead: ["reward", "kl"],
  blocks: {
    rollout: { chat: false },
    reward: {
      terms: { gain: { use: "information_gain", model: noThinkModel } },
      success: { at_least: 0 },
    },
    advantage: { baseline: { use: "leave_one_out" }, scale: { use: "none" } },
  },
} satisfies KindBlocks;

const kindBlocks: Readonly<Partial<Record<WrittenKind, KindBlocks>>> = {
  rlp: gain,
  rmt: gain,
  rlpt: {
    instead: ["reward", "kl"],
    blocks: {
      rollout: { chat: false },
      reward: { terms: { match: { use: "segment_match", match: "prefix" } } },
    },
  },
  pretrain: { instead: ["kl"], blocks: {} },
  preference: {
    instead: ["objective", "kl"],
    blocks: {
      advantage: { baseline: { use: "none" }, scale: { use: "none" } },
      objective: { use: "dpo", beta: 0.1, anchor: "reference" },
    },
  },
  reward_model: {
    instead: ["objective", "kl"],
    blocks: {
      advantage: { baseline: { use: "none" }, scale: { use: "none" } },
      objective: { use: "bradley_terry", pairs: "auto" },
    },
  },
};

/** Blocks that the kind decides: they are the stage's own, whoever wrote the top level's. */
export const decidedBy = (kind: WrittenKind): readonly string[] => {
  const own = kindBlocks[kind];
  if (own === undefined) return [];
  return [...new Set([...own.instead, ...Object.keys(own.blocks), ...(kind === "rmt" ? ["auxiliary"] : [])])];
};

/** The top level's blocks as a stage of this kind finds them. @param item the stage as written */
export function underKind(top: MapNode, kind: WrittenKind, item: MapNode): MapNode {
  const own = kindBlocks[kind];
  if (own === undefined) return top;
  const origin = changed((child(item, "kind") ?? item).origin, { layer: "default" });
  const left = own.instead.reduce((tree, key) => withoutEntry(tree, key), top);
  const merged = merge(left, fromJson(own.blocks, origin), grammar, () => undefined);
  if (merged.kind !== "map") return top;
  return kind === "rmt" ? withNextToken(merged, item, origin) : merged;
}

/** λ of RMT's next-token loss, which the paper's public text does not tell. */
const nextTokenWeight = 0.1;

/** RMT learns from the text itself as well: the ordinary next-token loss on the corpus, in addition to the reinforcement. */
function withNextToken(blocks: MapNode, item: MapNode, origin: Origin): MapNode {
  const tasks = child(item, "tasks") ?? child(blocks, "tasks");
  const list = tasks?.kind === "list" ? tasks.items : [];
  const path = list.map((task) => entry(task, "corpus")).find((found) => found !== undefined);
  if (path === undefined) return blocks;
  const loss = fromJson({ use: "next_token", weight: nextTokenWeight }, origin);
  if (loss.kind !== "map") return blocks;
  const items = [withEntry(loss, "path", path.value, path.key)];
  return withEntry(blocks, "auxiliary", { kind: "list", items, origin }, origin);
}

/** Copies that stages of this kind begin again. */
export const refreshedBy = (kind: WrittenKind): readonly string[] =>
  kind === "rlp" || kind === "rmt" ? [noThinkModel] : [];

const comparesThoughts: readonly TextKind[] = ["rlp", "rmt"];

/** The model that RLP compares with, where a stage needs it and none is written. */
export function withStageModels(root: MapNode): MapNode {
  const list = child(root, "stages");
  const items = list?.kind === "list" ? list.items : [];
  const kind = items
    .map((item) => child(item, "kind"))
    .find((node) => comparesThoughts.some((one) => one === textOf(node)));
  const models = child(root, "models");
  if (kind === undefined || entry(models, noThinkModel) !== undefined) return root;
  const origin = changed(kind.origin, { layer: "default" });
  const copy = fromJson({ ema: { of: "policy", decay: noThinkDecay } }, origin);
  const before = models?.kind === "map" ? models : mapNode(origin, []);
  return withEntry(root, "models", withEntry(before, noThinkModel, copy, origin), entry(root, "models")?.key);
}
