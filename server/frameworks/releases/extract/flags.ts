/** Flags of a command line: from calls of `add_argument`. */
import type { Json } from "../../../../shared/lib/json.ts";
import type { ParserArgument } from "../../text/python/classes.ts";
import type { KeyFact, KeyType } from "../tables/table.ts";
import { shortened } from "./types.ts";

/** @param help the longest help; 0 for none */
export function factOfArgument(argument: ParserArgument, help?: number): KeyFact {
  const type = typeOf(argument);
  const [fallback, choices, told] = [
    argument.value("default"),
    argument.value("choices"),
    argument.value("help"),
  ];
  const nargs = argument.value("nargs");
  const short = help === 0 ? undefined : shortened(typeof told === "string" ? told : undefined, help);
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
  if (action === "store_true" || action === "store_false" || hasNegation(argument)) return "bool";
  if (argument.keywords.has("nargs")) {
    const nargs = argument.value("nargs");
    if (nargs !== "?" && nargs !== undefined) return "list";
  }
  const type = argument.keywords.get("type");
  const name = type?.kind === "name" ? type.name : undefined;
  return name === "int" || name === "float" ? name : name === "str" || name === undefined ? "str" : "any";
}

/** `BooleanOptionalAction` makes `--no-x` of `--x`. */
export function hasNegation(argument: ParserArgument): boolean {
  const action = argument.keywords.get("action");
  return action?.kind === "name" && action.name.endsWith("BooleanOptionalAction");
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
