/** The settings that each trainer has, for what a config hands it under `engine.args`. */
import type { ExternalEngine } from "../../../shared/run/trainers.ts";
import type { EngineKeys, KeysOfEngine } from "../../core/config/engineKeys.ts";
import type { Framework } from "../text/document.ts";
import { factsFor } from "../releases/facts.ts";
import { flatTable, type FlatName } from "../releases/flatTable.ts";
import { tableOf } from "../releases/load.ts";

/** The trainers with tables, and the program whose keys count. */
const programs: Readonly<Partial<Record<ExternalEngine, readonly [Framework, string]>>> = {
  trl: ["trl", "grpo"],
  verl: ["verl", "ppo_trainer"],
  openrlhf: ["openrlhf", "train_ppo_ray"],
};
/** Those with a list of keys alone. */
const flats: Readonly<Partial<Record<ExternalEngine, FlatName>>> = { skyrl: "skyrl" };

/** Of the newest release that is known; undefined: nothing is known of the trainer. */
export const engineKeys: KeysOfEngine = (engine) => {
  const [program, flat] = [programs[engine], flats[engine]];
  if (flat !== undefined) return flatKeys(flat);
  return program === undefined ? undefined : keysOf(...program);
};

export function flatKeys(name: FlatName): EngineKeys {
  const { keys, open } = flatTable(name);
  const names = Object.keys(keys);
  return {
    keys: names,
    has: (key) =>
      Object.hasOwn(keys, key) ||
      names.some((one) => one.startsWith(`${key}.`)) ||
      open.some((one) => key.startsWith(`${one}.`)),
    usual: (key) => keys[key],
  };
}

export function keysOf(framework: Framework, tree: string): EngineKeys {
  const newest = tableOf(framework).versions.at(-1) ?? "";
  const table = factsFor(framework, { text: newest, table: newest, from: "newest" }, tree);
  /** Below a map of anything every key is one. */
  const isOpen = (key: string): boolean => {
    const parts = key.split(".");
    return parts.some((_, at) => table.get(parts.slice(0, at).join("."))?.open === true);
  };
  return {
    keys: table.keys,
    has: (key) => table.has(key) || table.sections.has(key) || isOpen(key),
    usual: (key) => table.get(key)?.default,
  };
}
