/**
 * Which methods and presets TRL or verl ship: those that a conversion of their configurations can write. Whatever
 * else a paper describes is research.
 */
import { readFileSync } from "node:fs";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { methodOf } from "../../methods/index.ts";
import type { Declaration, SlotName } from "../../core/declaration.ts";
import { presetNamed, type Preset } from "../../config/presets.ts";
import { fromJson, startOfFile, type Origin, type SourceNode } from "../../config/text/node.ts";
import { producedConfigs } from "../../frameworks/trainers/produced.ts";
import { slotOf, type Step } from "../spot.ts";
import { tolerantParse } from "../tolerant/tolerantParse.ts";
import { visits, type Visit } from "../walk.ts";
import { valuePlaceOf } from "./likelihood.ts";

interface Produced {
  /** `baseline group_mean`. */
  readonly methods: ReadonlySet<string>;
  /** Slots of which a conversion chooses a method at all. */
  readonly slots: ReadonlySet<SlotName>;
  /** `objective.low` for a key, `objective=cispo` for a word. */
  readonly places: ReadonlySet<string>;
}

/** TRL's trainers that no conversion reads, and the method that each is. */
export const trainersOfMethods: Readonly<Record<string, string>> = {
  "objective kto": "KTOTrainer",
  "objective bradley_terry": "RewardTrainer",
  "auxiliary sft": "SFTTrainer",
};

/** Presets that follow the authors' code where they differ from verl's estimator of the same method. */
export const estimatorsOfPresets: Readonly<Record<string, string>> = { ppo: "gae", remax: "remax" };

let known: Produced | undefined;
const produced = (): Produced => (known ??= collect());

export const isShipped = (slot: SlotName, name: string): boolean =>
  produced().methods.has(`${slot} ${name}`) || Object.hasOwn(trainersOfMethods, `${slot} ${name}`);

/** Whether TRL or verl have a choice here that a config may make. */
export const isShippedSlot = (slot: SlotName): boolean => produced().slots.has(slot);

/** What a task or an optimizer is taken for is no question of method, although papers describe them. */
const tools: readonly SlotName[] = ["task", "reward", "optimizer"];

export const isResearch = ({ slot, name, sources }: Declaration): boolean =>
  sources.length > 0 && !tools.includes(slot) && !isShipped(slot, name);

const shippedPresets = new Map<string, boolean>();

/** Whether everything that a preset and its parents choose is something that a conversion writes; numbers are free. */
export function isShippedPreset(preset: Preset): boolean {
  const found = shippedPresets.get(preset.id) ?? ofPreset(preset);
  shippedPresets.set(preset.id, found);
  return found;
}

function ofPreset({ id, file, extends: parent }: Preset): boolean {
  if (Object.hasOwn(estimatorsOfPresets, id)) return true;
  const above = parent === null ? undefined : presetNamed(parent);
  if (above !== undefined && !isShippedPreset(above)) return false;
  const root = tolerantParse(readFileSync(file, "utf8"), nowhere);
  return root === undefined || [...visits(root, undefined)].every(isProduced);
}

const headers: readonly (Step | undefined)[] = ["preset", "extends", undefined];

function isProduced(visit: Visit): boolean {
  if (headers.includes(visit.path[0])) return true;
  const { places } = produced();
  const word = wordOf(visit.node);
  if (word === undefined) return places.has(valuePlaceOf(visit.path));
  return (
    places.has(`${valuePlaceOf(visit.path)}=${word}`) || isDefault(visit, word) || isOfTrainer(visit, word)
  );
}

const isOfTrainer = ({ spot }: Visit, word: string | boolean): boolean => {
  const slot = slotOf(spot);
  return slot !== undefined && isShipped(slot, String(word));
};

/** What a method does anyway is no choice. */
function isDefault({ spot }: Visit, word: string | boolean): boolean {
  const usual = spot?.kind === "schema" ? spot.schema.safeParse(undefined) : undefined;
  return usual?.success === true && usual.data === word;
}

const wordOf = (node: SourceNode): string | boolean | undefined =>
  node.kind === "scalar" && (typeof node.value === "string" || typeof node.value === "boolean")
    ? node.value
    : undefined;

const nowhere: Origin = { file: "", folder: "", range: startOfFile, via: [], layer: "default" };

function collect(): Produced {
  const methods = new Set<string>();
  const slots = new Set<SlotName>();
  const places = new Set<string>();
  for (const block of blocks())
    for (const { path, node, spot } of visits(fromJson(block, nowhere), undefined)) {
      const word = wordOf(node);
      places.add(valuePlaceOf(path));
      if (word === undefined) continue;
      places.add(`${valuePlaceOf(path)}=${word}`);
      const slot = slotOf(spot);
      const method = slot === undefined ? undefined : methodOf(slot, String(word));
      if (slot === undefined || method === undefined) continue;
      methods.add(`${slot} ${method.name}`);
      slots.add(slot);
    }
  return { methods, slots, places };
}

/** Most conversions have most of their blocks in common: each once. */
function blocks(): JsonObject[] {
  const each = producedConfigs()
    .flatMap(Object.entries<Json>)
    .map(([key, value]) => ({ [key]: value }));
  return [...new Map(each.map((block) => [JSON.stringify(block), block])).values()];
}
