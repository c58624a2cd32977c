/** What a reward file defines and returns, by its tokens: nothing of it is executed. */
import { tokensOf, type PythonToken } from "../../../lib/python/tokens.ts";

interface RewardFileFunction {
  readonly name: string;
  readonly isAsync: boolean;
  /** The tokens after its colon. */
  readonly body: readonly PythonToken[];
}

/** Functions at the top of a file. */
export function functionsOf(source: string): RewardFileFunction[] {
  const tokens = tokensOf(source);
  return tokens.flatMap((token, i) => {
    if (token.kind !== "line" || token.indent !== 0) return [];
    const isAsync = tokens[i + 1]?.text === "async";
    const at = i + (isAsync ? 2 : 1);
    if (tokens[at]?.text !== "def" || tokens[at]?.kind !== "name") return [];
    return [{ name: tokens[at + 1]?.text ?? "", isAsync, body: bodyFrom(tokens, at + 2) }];
  });
}

/** Every name that a file binds at its top: functions, classes, assignments, imports. */
export function namesOf(source: string): ReadonlySet<string> {
  const tokens = tokensOf(source);
  const found = new Set<string>();
  tokens.forEach((token, i) => {
    if (token.kind !== "line" || token.indent !== 0) return;
    const line = lineFrom(tokens, i + 1);
    if (/^(from|import)$/.test(line[0]?.text ?? "")) for (const { text } of line) found.add(text);
    for (const { kind, text } of line.slice(0, 3)) if (kind === "name") found.add(text);
  });
  return found;
}

function lineFrom(tokens: readonly PythonToken[], start: number): readonly PythonToken[] {
  const end = tokens.findIndex((token, i) => i >= start && token.kind === "line");
  return tokens.slice(start, end < 0 ? undefined : end);
}

function bodyFrom(tokens: readonly PythonToken[], start: number): readonly PythonToken[] {
  const end = tokens.findIndex((token, i) => i >= start && token.kind === "line" && token.indent === 0);
  return tokens.slice(start, end < 0 ? undefined : end);
}

/**
 * Keys of the dict that a function returns: those of every `return`, none where all return numbers.
 * undefined if its tokens do not show it.
 */
export function returnedKeys(source: string, name: string): readonly string[] | undefined {
  const found = functionsOf(source).findLast((one) => one.name === name);
  if (found === undefined || found.body.some(({ kind, text }) => kind === "name" && text === "def"))
    return undefined;
  const returns = found.body.flatMap(({ kind, text }, i) =>
    kind === "name" && text === "return" ? [returned(found.body, i + 1)] : [],
  );
  if (returns.length === 0 || returns.includes(undefined)) return undefined;
  const [first = [], ...others] = returns.filter((keys) => keys !== undefined);
  return first.filter((key) => others.every((keys) => keys.includes(key)));
}

function returned(body: readonly PythonToken[], at: number): readonly string[] | undefined {
  const [first, second] = [body[at], body[at + 1]];
  if (first?.text === "{" && first.kind === "operator") return literalKeys(body, at);
  const number = first?.kind === "number" || (first?.text === "-" && second?.kind === "number");
  const converted = /^(float|int|bool)$/.test(first?.text ?? "") && second?.text === "(";
  return number || converted ? [] : undefined;
}

function literalKeys(body: readonly PythonToken[], at: number): readonly string[] | undefined {
  const keys: string[] = [];
  for (let [i, depth] = [at, 0]; i < body.length; i++) {
    const { kind, text } = body[i]!;
    if (kind === "operator" && "([{".includes(text)) depth += 1;
    if (kind === "operator" && ")]}".includes(text) && --depth === 0) return keys;
    if (depth !== 1) continue;
    if (text === "**") return undefined;
    if (body[i + 1]?.text !== ":" || body[i + 1]?.kind !== "operator") continue;
    if (kind !== "text") return undefined;
    keys.push(text);
  }
  return undefined;
}
