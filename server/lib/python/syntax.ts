/**
 * The first syntax error of a Python file that its tokens show: brackets, strings, colons, indentation, and words that
 * nothing connects. Nothing is executed; what this accepts Python may still refuse.
 */
import { tokensOf, type PythonToken } from "./tokens.ts";

export interface PythonProblem {
  readonly message: string;
  /** From 0. */
  readonly line: number;
}

type Found = { readonly at: number; readonly message: string } | undefined;

export function pythonProblem(text: string): PythonProblem | undefined {
  const tokens = tokensOf(text);
  const found = unclosedString(text, tokens) ?? brackets(tokens) ?? statements(text, tokens);
  return found === undefined
    ? undefined
    : { message: found.message, line: text.slice(0, found.at).split("\n").length - 1 };
}

function unclosedString(text: string, tokens: readonly PythonToken[]): Found {
  for (const { kind, start, end } of tokens) {
    if (kind !== "text") continue;
    const quote = /^[a-zA-Z]{0,2}("""|'''|"|')/.exec(text.slice(start, start + 5))?.[1] ?? "";
    const opened = start + text.slice(start).indexOf(quote) + quote.length;
    if (end - quote.length < opened || text.slice(end - quote.length, end) !== quote)
      return { at: start, message: `the string that ${quote} begins is not closed` };
  }
  return undefined;
}

const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

function brackets(tokens: readonly PythonToken[]): Found {
  const open: PythonToken[] = [];
  for (const token of tokens) {
    const { kind, text, start } = token;
    if (kind !== "operator") continue;
    if (text in closing) open.push(token);
    if (text !== ")" && text !== "]" && text !== "}") continue;
    const last = open.pop();
    if (last === undefined) return { at: start, message: `\`${text}\` closes nothing` };
    if (closing[last.text] !== text)
      return { at: last.start, message: `\`${last.text}\` is closed by \`${text}\`` };
  }
  const last = open.at(-1);
  return last && { at: last.start, message: `\`${last.text}\` is never closed` };
}

interface Statement {
  readonly indent: number;
  readonly tokens: readonly PythonToken[];
}

function statementsOf(tokens: readonly PythonToken[]): Statement[] {
  const found: { indent: number; tokens: PythonToken[] }[] = [];
  for (const token of tokens)
    if (token.kind === "line") found.push({ indent: token.indent, tokens: [] });
    else found.at(-1)?.tokens.push(token);
  return found.filter((one) => one.tokens.length > 0);
}

/** With a block below them, or a statement after their colon. */
const compound = /^(if|elif|else|for|while|try|except|finally|with|def|class)$/;

function statements(text: string, tokens: readonly PythonToken[]): Found {
  const levels = [0];
  let opens: PythonToken | undefined;
  for (const { indent, tokens: statement } of statementsOf(tokens)) {
    const [first] = statement;
    if (first === undefined) continue;
    const level = levels.at(-1) ?? 0;
    // Python counts a tab as up to eight columns: how deep such a line is, only Python says.
    const isTabbed = text.slice(text.lastIndexOf("\n", first.start) + 1, first.start).includes("\t");
    if (!isTabbed) {
      if (opens !== undefined && indent <= level)
        return { at: first.start, message: `an indented block is missing after \`${opens.text}\`` };
      if (opens === undefined && indent > level)
        return { at: first.start, message: "the line is indented, and nothing above it begins a block" };
    }
    if (indent > level) levels.push(indent);
    while ((levels.at(-1) ?? 0) > indent) levels.pop();
    if (!isTabbed && levels.at(-1) !== indent)
      return { at: first.start, message: "the line is indented as no line above it is" };
    const problem = headless(statement) ?? unconnected(statement);
    if (problem !== undefined) return problem;
    opens = statement.at(-1)?.text === ":" && statement.at(-1)?.kind === "operator" ? first : undefined;
  }
  return opens && { at: opens.start, message: `an indented block is missing after \`${opens.text}\`` };
}

/** `def f(x)` without its colon. */
function headless(statement: readonly PythonToken[]): Found {
  const word = statement[statement[0]?.text === "async" ? 1 : 0];
  if (word?.kind !== "name" || !compound.test(word.text)) return undefined;
  let depth = 0;
  for (const { kind, text } of statement) {
    if (kind !== "operator") continue;
    if (text in closing) depth += 1;
    if (text === ")" || text === "]" || text === "}") depth -= 1;
    if (text === ":" && depth === 0) return definition(statement, word);
  }
  return { at: word.start, message: `\`${word.text}\` has no \`:\` at its end` };
}

function definition(statement: readonly PythonToken[], word: PythonToken): Found {
  if (word.text !== "def" && word.text !== "class") return undefined;
  const [name, next] = statement.slice(statement.indexOf(word) + 1);
  const follows = word.text === "def" ? ["(", "["] : ["(", "[", ":"];
  return name?.kind === "name" && follows.includes(next?.text ?? "")
    ? undefined
    : { at: word.start, message: `\`${word.text}\` needs a name and its parameters in brackets` };
}

const keywords =
  /^(and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;
/** Keywords only where a statement begins with them. */
const soft = /^(match|case|type)$/;

/** `retrun 1`, `f(x) y`: two values side by side. Texts side by side are one. */
function unconnected(statement: readonly PythonToken[]): Found {
  for (const [i, token] of statement.entries()) {
    if (token.kind === "operator" && /^[$?`]$/.test(token.text))
      return { at: token.start, message: `\`${token.text}\` means nothing in Python` };
    const before = statement[i - 1];
    if (before === undefined || !isValue(token) || !endsValue(before)) continue;
    if (before.end === token.start && before.kind === "number") continue;
    if (isText(before) && isText(token)) continue;
    if (before.kind === "unknown" || token.kind === "unknown") continue;
    if (i === 1 && soft.test(before.text)) continue;
    return { at: token.start, message: `\`${shown(before)} ${shown(token)}\`: nothing connects the two` };
  }
  return undefined;
}

const isText = ({ kind }: PythonToken): boolean => kind === "text" || kind === "unknown";
const shown = ({ kind, text }: PythonToken): string => (kind === "text" || kind === "unknown" ? '"…"' : text);
const isValue = ({ kind, text }: PythonToken): boolean =>
  kind === "number" || kind === "text" || kind === "unknown" || (kind === "name" && !keywords.test(text));
const endsValue = (token: PythonToken): boolean =>
  isValue(token) || (token.kind === "operator" && /^[)\]}]$/.test(token.text));
