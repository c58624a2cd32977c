/** Keys that nothing reads: what was meant, where the key belongs, what is allowed. */
import { methods } from "../../methods/index.ts";
import type { SlotName } from "../../core/declaration.ts";
import { grammar } from "../grammar/grammar.ts";
import { isWritten, join, type MapNode } from "../text/node.ts";
import { unknownName, type Report } from "./report.ts";
import type { Field } from "../../core/blocks/field.ts";
import { listed } from "../../lib/suggest.ts";

/** The keys of a place of the config. */
export interface Known {
  readonly path: string;
  readonly allowed: readonly string[];
  /** Keys that are read but not offered. */
  readonly elsewhere?: readonly string[];
  /** Where the place is a slot: another of its methods may have the key. */
  readonly slot?: SlotName;
}

export function reportUnknownKeys(node: MapNode, known: Known, report: Report): void {
  const { path, allowed, elsewhere = [] } = known;
  for (const [key, { key: at }] of node.entries) {
    if (allowed.includes(key) || elsewhere.includes(key)) continue;
    const { hint, fixes, meant } = unknownName(key, allowed, at);
    const home = fixes.length === 0 ? homeOf(key, known) : { words: "" };
    const where = path === "" ? "a config" : `\`${path}\``;
    report({
      rule: "unknown-key",
      message: `\`${key}\` is not a key of ${where}.${home.words} ${hint}`,
      key: join(path, key),
      at,
      fixes: isWritten(node, meant, at) ? [] : fixes,
      meant: meant === undefined ? undefined : join(path, meant),
      misplaced: home.to === undefined ? {} : { to: home.to },
      harmless: true,
    });
  }
}

interface Home {
  readonly words: string;
  /** The whole path, where there is one place only. */
  readonly to?: string;
}

function homeOf(key: string, { path, slot }: Known): Home {
  const others = methods
    .filter((method) => method.slot === slot && key in method.params.shape)
    .map(({ name }) => name);
  if (others.length > 0)
    return { words: ` It is a parameter of ${listed(others)}: name the method with \`use\`.` };
  const home = placesOf(key).filter((place) => place !== path);
  if (home.length === 0) return { words: "" };
  const [only] = home;
  return {
    words: ` \`${key}\` belongs in ${listed(home)}.`,
    ...(home.length === 1 && only !== undefined ? { to: join(only, key) } : {}),
  };
}

let places: ReadonlyMap<string, readonly string[]> | undefined;

/** Where in the grammar a key exists: for keys written in the wrong block. */
function placesOf(key: string): readonly string[] {
  places ??= collectPlaces();
  return places.get(key) ?? [];
}

function collectPlaces(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (key: string, path: string): void => void found.set(key, [...(found.get(key) ?? []), path]);
  const visit = (fields: Readonly<Record<string, Field>>, path: string): void => {
    for (const [key, { shape }] of Object.entries(fields)) {
      if (path !== "") add(key, path);
      if (shape.kind === "map") visit(shape.fields, join(path, key));
      if (shape.kind !== "slot") continue;
      visit(shape.own, join(path, key));
      const params = new Set(
        methods
          .filter((method) => method.slot === shape.slot)
          .flatMap((method) => Object.keys(method.params.shape)),
      );
      for (const name of params) if (!(name in shape.own)) add(name, join(path, key));
    }
  };
  visit(grammar.fields, "");
  return found;
}
