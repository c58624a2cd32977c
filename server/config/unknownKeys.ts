/** Keys that nobody reads: what was meant, where the key belongs, what is allowed. */
import { methods } from "../methods.ts";
import type { SlotName } from "./declaration.ts";
import { grammar } from "./grammar.ts";
import { join, type MapNode } from "./node.ts";
import { unknownName, type Report } from "./report.ts";
import type { Field } from "./shape.ts";
import { listed } from "./suggest.ts";

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
    const { hint, fixes } = unknownName(key, allowed, at);
    const home = fixes.length === 0 ? whereItBelongs(key, known) : "";
    const where = path === "" ? "a config" : `\`${path}\``;
    report({
      rule: "unknown-key",
      message: `\`${key}\` is not a key of ${where}.${home} ${hint}`,
      key: join(path, key),
      at,
      fixes,
      harmless: true,
    });
  }
}

function whereItBelongs(key: string, { path, slot }: Known): string {
  const others = methods
    .filter((method) => method.slot === slot && key in method.params.shape)
    .map(({ name }) => name);
  if (others.length > 0) return ` It is a parameter of ${listed(others)}: name the method with \`use\`.`;
  const home = placesOf(key).filter((place) => place !== path);
  return home.length > 0 ? ` \`${key}\` belongs in ${listed(home)}.` : "";
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
