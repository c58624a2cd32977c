/** OpenRLHF's flags, from the calls of `add_argument` in its programs that train. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../../../shared/lib/json.ts";
import { argumentsOf, type ParserArgument } from "../../text/python/classes.ts";
import type { KeyFacts, KeyFact, KeyType, Release } from "../tables/table.ts";
import { shortened } from "./types.ts";

/** @param root the folder that holds the package `openrlhf` */
export function openrlhfFacts(root: string): Release | undefined {
  const folder = join(root, "openrlhf/cli");
  if (!existsSync(join(folder, "train_ppo_ray.py"))) return undefined;
  const programs = readdirSync(folder).flatMap((name) => /^(train_\w+)\.py$/.exec(name)?.[1] ?? []);
  return Object.fromEntries(programs.map((name) => [name, factsOfProgram(join(folder, `${name}.py`))]));
}

function factsOfProgram(file: string): KeyFacts {
  const facts: Record<string, KeyFact> = {};
  for (const argument of argumentsOf(readFileSync(file, "utf8")))
    for (const name of argument.names) facts[name] = factOf(argument);
  return facts;
}

function factOf(argument: ParserArgument): KeyFact {
  const type = typeOf(argument);
  const [fallback, choices, help] = [
    argument.value("default"),
    argument.value("choices"),
    argument.value("help"),
  ];
  const nargs = argument.value("nargs");
  const short = shortened(typeof help === "string" ? help : undefined);
  return {
    type: fallback === null && !type.endsWith("?") && type !== "any" ? optional(type) : type,
    ...defaultOf(argument, fallback),
    ...(Array.isArray(choices) ? { choices } : {}),
    ...(typeof nargs === "number" || nargs === "?" || nargs === "*" || nargs === "+" ? { nargs } : {}),
    ...(type === "list" ? itemsOf(argument) : {}),
    ...(short === undefined ? {} : { help: short }),
  };
}

/** Argparse's defaults. */
function defaultOf(argument: ParserArgument, written: Json | undefined): { default?: Json } {
  if (written !== undefined) return { default: written };
  if (argument.keywords.has("default")) return {};
  const action = argument.value("action");
  return { default: action === "store_true" ? false : action === "store_false" ? true : null };
}

function itemsOf(argument: ParserArgument): { of?: "int" | "float" } {
  const type = argument.keywords.get("type");
  const name = type?.kind === "name" ? type.name : undefined;
  return name === "int" || name === "float" ? { of: name } : {};
}

function typeOf(argument: ParserArgument): KeyType {
  const action = argument.value("action");
  if (action === "store_true" || action === "store_false") return "bool";
  if (argument.keywords.has("nargs")) {
    const nargs = argument.value("nargs");
    if (nargs !== "?" && nargs !== undefined) return "list";
  }
  const type = argument.keywords.get("type");
  const name = type?.kind === "name" ? type.name : undefined;
  return name === "int" || name === "float" ? name : name === "str" || name === undefined ? "str" : "any";
}

function optional(type: KeyType): KeyType {
  switch (type) {
    case "int":
    case "float":
    case "str":
    case "list":
      return `${type}?`;
    default:
      return type;
  }
}
