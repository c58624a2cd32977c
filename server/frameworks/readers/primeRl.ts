/** `rl.toml` of prime-rl: which text is one, and its settings. */
import { parse, TomlError } from "smol-toml";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { flat, isObject } from "../text/values.ts";

const orchestrator = "orchestrator";
const source = "orchestrator.train.source";

/** Whether a text is of prime-rl, by its keys: those of its entry point `rl`. */
export const isPrimeRl = (tree: JsonObject): boolean =>
  isObject(tree[orchestrator]) && (isObject(tree["trainer"]) || "max_steps" in tree);

/** @throws UserError where it is no TOML */
export function tomlOf(file: string, text: string): JsonObject {
  try {
    const read: JsonObject = JSON.parse(JSON.stringify(parse(text)));
    return read;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new UserError(
      `not TOML: ${error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "")}`,
      {
        file,
        line: error.line - 1,
        character: error.column - 1,
        code: "syntax",
        action: "Fix the file.",
      },
    );
  }
}

/** Dotted settings; those of the first environment that trains are below its list's key. `"None"` is null. */
export function primeRlSettings(tree: JsonObject): Map<string, Json> {
  const settings = new Map(flat(tree).map(([key, value]) => [key, value === "None" ? null : value] as const));
  const environments = settings.get(source);
  if (!Array.isArray(environments)) return settings;
  const [first] = environments;
  settings.delete(source);
  if (isObject(first)) for (const [key, value] of flat(first, `${source}.`)) settings.set(key, value);
  if (environments.length > 1) settings.set(`${source}.others`, environments.length - 1);
  return settings;
}
