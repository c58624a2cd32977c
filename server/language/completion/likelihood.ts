/** What published methods choose where, counted over the presets: the measure of what somebody is likely to write. */
import { readFileSync } from "node:fs";
import { listPresets } from "../../config/presets.ts";
import { textOf, type SourceNode } from "../../config/text/node.ts";
import { tolerantParse } from "../tolerant/tolerantParse.ts";
import type { Step } from "../spot.ts";

/** How often each key or value is at a place. */
type Counts = ReadonlyMap<string, number>;

let counted: ReadonlyMap<string, Counts> | undefined;
const none: Counts = new Map();

/** A place is the same in every stage, item and term. */
const placeOf = (path: readonly Step[]): string => {
  const own = path[0] === "stages" ? path.slice(2) : path;
  return own.map((step, at) => (typeof step === "number" || isName(own, at) ? "*" : step)).join(".");
};
const isName = (path: readonly Step[], at: number): boolean =>
  (at === 1 && path[0] === "models") || (at === 2 && path[0] === "reward" && path[1] === "terms");

/** A method's name is at the same place in the short form and below `use`. */
export const valuePlaceOf = (path: readonly Step[]): string => placeOf(path).replace(/(?:^|\.)use$/, "");

export const keysUsed = (path: readonly Step[]): Counts => (counted ??= count()).get(placeOf(path)) ?? none;
export const valuesUsed = (path: readonly Step[]): Counts =>
  (counted ??= count()).get(`${valuePlaceOf(path)}=`) ?? none;

function count(): Map<string, Counts> {
  const all = new Map<string, Map<string, number>>();
  const add = (place: string, word: string): void => {
    const words = all.get(place) ?? new Map<string, number>();
    words.set(word, (words.get(word) ?? 0) + 1);
    all.set(place, words);
  };
  const visit = (node: SourceNode, path: readonly Step[]): void => {
    const text = textOf(node);
    if (text !== undefined) add(`${valuePlaceOf(path)}=`, text);
    if (node.kind === "list") node.items.forEach((item, index) => visit(item, [...path, index]));
    if (node.kind !== "map") return;
    for (const [key, { value }] of node.entries) {
      if (key === "preset" && path.length === 0) continue;
      add(placeOf(path), key);
      visit(value, [...path, key]);
    }
  };
  for (const { file } of listPresets()) {
    const root = tolerantParse(readFileSync(file, "utf8"), { file, folder: "", via: [], layer: "preset" });
    if (root !== undefined) visit(root, []);
  }
  return all;
}
