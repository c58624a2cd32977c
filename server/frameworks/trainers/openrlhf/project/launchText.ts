/** launch.sh: OpenRLHF reads no file of settings, so its flags are here, where `gradus convert` reads them too. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { shellQuoted } from "../../../../../shared/lib/shellQuoted.ts";

/** A file of the folder that launch.sh is in. */
export const inProject = (name: string): string => `\${project}/${name}`;
const project = /^\$\{project\}\/([\w./-]+)$/;

/** A flag a line; a switch that is off, and what has no value, are left out. */
export function flagLines(settings: JsonObject): string[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    if (value === null || value === false) return [];
    if (value === true) return [`--${key}`];
    const values = Array.isArray(value) ? value : [value];
    const words = values.map(word);
    // argparse takes a word with a dash for the next flag.
    return words.length === 1 && /^'?-[^\d.]/.test(words[0]!)
      ? [`--${key}=${words[0]}`]
      : [`--${key} ${words.join(" ")}`];
  });
}

function word(value: Json): string {
  const text =
    typeof value === "number" ? digits(value) : typeof value === "string" ? value : JSON.stringify(value);
  const own = project.exec(text)?.[1];
  if (own !== undefined) return `"$here/${own}"`;
  return /^[\w.,:/+-]+$/.test(text) ? text : shellQuoted(text);
}

/** argparse takes `-1e9` for a flag. */
const digits = (value: number): string =>
  value < 0 && String(value).includes("e")
    ? value.toFixed(20).replace(/0+$/, "").replace(/\.$/, "")
    : String(value);

/** @param template launch.sh without its flags */
export const withFlags = (template: string, settings: JsonObject): string =>
  template.replace("  FLAGS\n", () =>
    flagLines(settings)
      .map((line) => `  ${line} \\\n`)
      .join(""),
  );
