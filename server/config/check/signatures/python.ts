/** Signatures of functions in Python, by a scan of the text. */
import { blanked, closingOf, outside, partsOf } from "./brackets.ts";
import { oneLine, type Parameter, type Signature } from "./signature.ts";

const noise = /("""|''')[\s\S]*?(?:\1|$(?![\s\S]))|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|#[^\n]*/g;

/** What the frameworks hand to every call: not the config's to write. */
const given = new Set([
  "self",
  "data_source",
  "solution_str",
  "ground_truth",
  "extra_info",
  "prompt",
  "prompts",
  "response",
  "completion",
  "completions",
  "completion_ids",
  "trainer_state",
  "task",
]);

export function pythonSignature(text: string, name: string): Signature | undefined {
  const code = blanked(text, noise);
  const found = new RegExp(`^(?:async[ \\t]+)?def[ \\t]+${name.replaceAll("$", "")}[ \\t]*\\(`, "m").exec(
    code,
  );
  if (found === null) return undefined;
  const open = found.index + found[0].length - 1;
  const close = closingOf(code, open);
  if (close < 0) return undefined;
  const parts = partsOf(code.slice(open + 1, close), ",");
  const parameters = parts.flatMap(({ start, end }) =>
    parameterOf(text, code, open + 1 + start, open + 1 + end),
  );
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
    args: parameters.filter((parameter) => !given.has(parameter.name) && !parameter.name.startsWith("*")),
    line: text.slice(0, found.index).split("\n").length - 1,
  };
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
