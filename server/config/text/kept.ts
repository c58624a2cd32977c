/**
 * What one reading of a config leaves for the next. Trees are immutable, and what a text has not changed is the very same
 * nodes again (`pieces.ts`): what follows from the same nodes and is wrong in nothing is not worked out anew. All of it
 * follows from the text; what depends on other files is asked at every reading (`perObject.ts`).
 */
import type { JsonObject } from "../../../shared/lib/json.ts";
import type { BuiltTop } from "../build/types.ts";
import type { Checker } from "../check/check.ts";
import type { MapNode } from "./node.ts";
import type { CheckedTree } from "../build/reader.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { StagePlan } from "../build/stagePlan.ts";

/** The top level without its stages, checked. */
export interface KeptTop {
  readonly node: MapNode;
  /** What stages inherit. */
  readonly blocks: MapNode;
  readonly json: JsonObject;
  readonly checker: Checker;
  built: BuiltTop | undefined;
}

/** Of a stage under one top level; a part is there once it was found without a complaint. */
export interface KeptStage {
  readonly top: KeptTop;
  body?: MapNode;
  checked?: CheckedTree;
  written?: { readonly plan: StagePlan; readonly json: JsonObject };
  built?: { readonly plan: StagePlan; readonly total: number; readonly config: StageConfig };
}

const tops = new Map<string, KeptTop>();
/** Files whose top level is kept. */
const most = 16;

/** What was kept of a file, where its top level is still the same. */
export function keptTop(file: string, node: MapNode): KeptTop | undefined {
  const known = tops.get(file);
  return known !== undefined && hasSameEntries(known.node, node) ? known : undefined;
}

export function keepTop(file: string, top: KeptTop): void {
  tops.delete(file);
  tops.set(file, top);
  const [oldest] = tops.keys();
  if (tops.size > most && oldest !== undefined) tops.delete(oldest);
}

function hasSameEntries(a: MapNode, b: MapNode): boolean {
  if (a.entries.size !== b.entries.size) return false;
  for (const [key, { value, key: at }] of a.entries) {
    const other = b.entries.get(key);
    if (other?.value !== value || other.key !== at) return false;
  }
  return true;
}

const stages = new WeakMap<MapNode, KeptStage>();

/** What was kept of a stage, by its item. */
export function keptStage(item: MapNode, top: KeptTop): KeptStage {
  const known = stages.get(item);
  if (known?.top === top) return known;
  const fresh: KeptStage = { top };
  stages.set(item, fresh);
  return fresh;
}

export const isSamePlan = (a: StagePlan, b: StagePlan): boolean =>
  a.kind === b.kind &&
  a.steps === b.steps &&
  a.part === b.part &&
  a.turns.length === 0 &&
  b.turns.length === 0;
