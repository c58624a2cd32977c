/** What would hold without a file's own line: the parents', or the default. */
import { loadConfig, type LoadedConfig } from "../../rules/load.ts";
import { child, toJson, type SourceNode } from "../../config/text/node.ts";
import { usualAt } from "../usual.ts";
import { placeText, throughText } from "./origin.ts";
import type { Step } from "../spot.ts";

/** A document's parents alone, read once for each time that the document has been. */
const parents = new WeakMap<LoadedConfig, LoadedConfig>();

function parentsOf(loaded: LoadedConfig, file: string): LoadedConfig | undefined {
  const written = child(loaded.source, "extends");
  if (written === undefined) return undefined;
  const known = parents.get(loaded);
  if (known !== undefined) return known;
  const found = loadConfig(file, { text: `extends: ${JSON.stringify(toJson(written))}\n` });
  parents.set(loaded, found);
  return found;
}

/** For a scalar of the document that overrides another: what it overrides, and who wrote that. */
export function inheritedText(
  path: readonly Step[],
  dotted: string,
  loaded: LoadedConfig | undefined,
  file: string,
): string[] {
  if (loaded === undefined || path.some((step) => typeof step === "number") || path[0] === "extends")
    return [];
  const above = parentsOf(loaded, file);
  const origin = above?.origins[dotted];
  const node = at(above?.root, path) ?? usualAt(path);
  if (above === undefined || origin === undefined || node?.kind !== "scalar" || origin.file === "default")
    return [];
  return [
    `Without this line: \`${JSON.stringify(node.value)}\`, from ${placeText(origin, file)}${throughText(origin)}.`,
  ];
}

const at = (root: SourceNode | undefined, path: readonly Step[]): SourceNode | undefined =>
  path.reduce<SourceNode | undefined>((node, step) => child(node, String(step)), root);
