/** Signatures of functions in Python, by a scan of the text. */
import {
  conventions,
  givenNames,
  recognised,
  type TakenParameter,
} from "../../../methods/reward/own/python/convention.ts";
import { blanked, pythonNoise } from "../../../lib/texts/blanked.ts";
import { closingOf, outside, partsOf } from "./brackets.ts";
import { oneLine, type Parameter, type Signature } from "./signature.ts";

/** What may be handed to a call where the convention is not known: not the config's to write. */
const given = new Set(["self", ...conventions.flatMap((one) => givenNames(one))]);

/** As the function would say itself, once it is loaded. */
export const takenParameters = (parameters: readonly Parameter[]): TakenParameter[] =>
  parameters.map(({ name, usual }) => ({
    name: name.replace(/^\*+/, ""),
    kind: name.startsWith("**")
      ? "var_keyword"
      : name.startsWith("*")
        ? "var_positional"
        : "positional_or_keyword",
    optional: usual !== undefined,
  }));

export function pythonSignature(text: string, name: string): Signature | undefined {
  const code = blanked(text, pythonNoise);
  const found = definitionOf(code, name);
  if (found === undefined) return undefined;
  const { open } = found;
  const close = closingOf(code, open);
  if (close < 0) return undefined;
  const parts = partsOf(code.slice(open + 1, close), ",");
  const parameters = parts
    .flatMap(({ start, end }) => parameterOf(text, code, open + 1 + start, open + 1 + end))
    .slice(found.method ? 1 : 0);
  const convention = recognised(takenParameters(parameters), name);
  const own = convention.kind === "convention" ? new Set(givenNames(convention.convention)) : given;
  const tail = /^\s*(?:->\s*([^:]+))?:/.exec(code.slice(close + 1));
  const returns = tail?.[1] === undefined ? undefined : oneLine(tail[1]);
  const body = close + 1 + (tail?.[0].length ?? 0);
  return {
    name,
    language: "python",
    head: `${name}${oneLine(text.slice(open, close + 1))}${returns === undefined ? "" : ` -> ${returns}`}`,
    parameters,
    returns,
    doc: docstring(text.slice(body)),
    types: [],
    args: parameters.filter((parameter) => !own.has(parameter.name) && !parameter.name.startsWith("*")),
    recognised: convention,
    line: text.slice(0, found.start).split("\n").length - 1,
  };
}

interface Definition {
  /** Of its line, and of its opening bracket. */
  readonly start: number;
  readonly open: number;
  /** Of a class: what it is called on is its first parameter. */
  readonly method: boolean;
}

/** `name` of the file's top level, or `Class.name` of a class there. */
function definitionOf(code: string, name: string): Definition | undefined {
  const [root = "", method] = name.replaceAll("$", "").split(".");
  if (method === undefined) return definedIn(code, 0, `^(?:async[ \\t]+)?def[ \\t]+${root}[ \\t]*\\(`, false);
  const head = new RegExp(`^class[ \\t]+${root}\\b`, "m").exec(code);
  if (head === null || !code.includes("\n", head.index)) return undefined;
  const from = code.indexOf("\n", head.index);
  // It ends where something else begins at the margin.
  const end = code.slice(from).search(/^[^\s)\]}]/m);
  const body = end < 0 ? code.slice(from) : code.slice(from, from + end);
  return definedIn(body, from, `^[ \\t]+(?:async[ \\t]+)?def[ \\t]+${method}[ \\t]*\\(`, true);
}

function definedIn(code: string, from: number, pattern: string, method: boolean): Definition | undefined {
  const found = new RegExp(pattern, "m").exec(code);
  return found === null
    ? undefined
    : { start: from + found.index, open: from + found.index + found[0].length - 1, method };
}

/** `name: type = usual`; a bare `*` or `/` is none. */
function parameterOf(text: string, code: string, from: number, to: number): Parameter[] {
  const name = /^\s*(\*{0,2}[A-Za-z_]\w*)/.exec(code.slice(from, to));
  if (name?.[1] === undefined) return [];
  const equals = outside(code.slice(from, to), /^=/);
  const typed = /^\s*:/.exec(code.slice(from + name[0].length, to))?.[0].length;
  const typeEnd = equals < 0 ? to : from + equals;
  const type = typed === undefined ? "" : oneLine(text.slice(from + name[0].length + typed, typeEnd));
  return [
    {
      name: name[1],
      ...(type === "" ? {} : { type }),
      ...(equals < 0 ? {} : { usual: oneLine(text.slice(from + equals + 1, to)) }),
    },
  ];
}

/** The text that a body begins with, its indentation taken off. */
function docstring(body: string): string {
  const found = /^\s*[rRuU]?(?:"""([\s\S]*?)"""|'''([\s\S]*?)'''|"([^"\n]*)"|'([^'\n]*)')/.exec(body);
  const text = found?.slice(1).find((each) => each !== undefined) ?? "";
  const lines = text.split("\n");
  const depth = Math.min(
    ...lines
      .slice(1)
      .filter((line) => line.trim() !== "")
      .map((line) => line.length - line.trimStart().length),
  );
  return lines
    .map((line, at) => (at === 0 ? line.trim() : line.slice(Math.min(depth, line.length))))
    .join("\n")
    .trim();
}
