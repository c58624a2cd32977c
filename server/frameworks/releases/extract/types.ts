/** Python's annotations and Hydra's values as the few types that tables know. */
import type { Json } from "../../../../shared/lib/json.ts";
import type { KeyType } from "../tables/table.ts";

const plain = { int: "int", float: "float", bool: "bool", str: "str", list: "list", dict: "dict" } as const;
type Plain = (typeof plain)[keyof typeof plain];
const isPlain = (word: string): word is Plain => word in plain;

/** `Optional[int]`, `int | None`, `list[str]`, `Union[str, bool]`: several kinds at once are `any`. */
export function typeOfAnnotation(annotation: string): KeyType {
  const text = annotation.replaceAll('"', "").replace(/\s/g, "");
  const optional = /^Optional\[|\|None|None\||None\]/.test(text);
  const bare = text.replace(/^Optional\[(.*)\]$/, "$1").replace(/\|None|None\|/g, "");
  const [, outer = ""] = /^(?:typing\.)?(\w+)(?:\[.*\])?$/.exec(bare) ?? [];
  const word = outer.toLowerCase();
  const kind = word === "tuple" || word === "sequence" ? "list" : word;
  if (word === "literal") return optional ? "str?" : "str";
  if (!isPlain(kind)) return "any";
  return optional ? `${kind}?` : kind;
}

/** `Literal["a", "b"]`. */
export function choicesOfAnnotation(annotation: string): string[] | undefined {
  // `Literal[False] | str | None` takes any text.
  if (/(^|[|,[] )str\b/.test(annotation.replace(/Literal \[ [^\]]*\]/, ""))) return undefined;
  const inside = /Literal \[ ([^\]]*)\]/.exec(annotation)?.[1];
  const words = inside?.split(" , ").map((word) => word.trim().replaceAll('"', "").replace(/ ,$/, ""));
  return words === undefined || words.length === 0 ? undefined : words;
}

export function typeOfValue(value: Json): KeyType {
  switch (typeof value) {
    case "number":
      return Number.isInteger(value) ? "int" : "float";
    case "boolean":
      return "bool";
    case "string":
      return value.includes("${") || value === "???" ? "any" : "str";
    default:
      return value === null ? "any" : Array.isArray(value) ? "list" : "dict";
  }
}

/** A comment as one line of at most `most` characters, cut after a sentence if possible. */
export function shortened(help: string | undefined, most = 280): string | undefined {
  const text = help?.replace(/%%/g, "%").replace(/\s+/g, " ").trim() ?? "";
  if (text === "") return undefined;
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  const end = Math.max(cut.lastIndexOf(". "), cut.lastIndexOf("; "));
  return end > most / 3 ? cut.slice(0, end + 1) : `${cut.slice(0, cut.lastIndexOf(" "))} …`;
}
