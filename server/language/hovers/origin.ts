/** Where a value in force was written, as a hover shows it. */
import { basename, dirname } from "node:path";
import { pathToFileURL } from "node:url";
import type { LoadedConfig } from "../../rules/load.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

type ValueOrigin = LoadedConfig["origins"][string];

/** `[base.gradus.yaml:12](file:…#L12)`, by its name below the config's folder, else by its own. */
export function placeText(origin: Pick<ValueOrigin, "file" | "line">, file: string): string {
  const below = relativePath(dirname(file), origin.file);
  const name = below.startsWith("..") ? basename(origin.file) : below;
  return `[${name}:${origin.line}](${pathToFileURL(origin.file).href}#L${origin.line})`;
}

export const throughText = ({ via }: Pick<ValueOrigin, "via">): string =>
  via.length === 0 ? "" : ` through ${via.join(" → ")}`;

/** Who wrote the value of a path. */
export function originText(path: string, loaded: LoadedConfig | undefined, file: string): string[] {
  const origin = loaded?.origins[path] ?? loaded?.origins[`${path}.use`];
  if (origin === undefined) return [];
  if (origin.file === "default") return ["The default."];
  return [`From ${placeText(origin, file)}${throughText(origin)}.`];
}
