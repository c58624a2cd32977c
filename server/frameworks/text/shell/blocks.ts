/** Finds where the blocks of a shell script begin and end. */
import type { CodeSpan } from "./traced.ts";
import type { ScriptCommand, ShellWord } from "./words.ts";

export const literal = (word: ShellWord | undefined): string | undefined =>
  word === undefined ? undefined : word.map(({ text }) => text).join("");
export const isName = (text: string | undefined): text is string =>
  text !== undefined && /^[A-Za-z_][\w-]*$/.test(text);

/** What follows `else` on its own line belongs to the branch. */
export function withoutHead(
  command: ScriptCommand,
  rest: readonly ScriptCommand[],
  head?: string,
): ScriptCommand[] {
  if (head !== undefined && literal(command.words[0]) !== head) return [command, ...rest];
  const words = command.words.slice(1);
  return words.length === 0 ? [...rest] : [{ ...command, words }, ...rest];
}

const closers: Readonly<Record<string, string>> = {
  if: "fi",
  case: "esac",
  for: "done",
  while: "done",
  until: "done",
};

/** The index after the command that closes the block which opens at `at`. */
export function endOf(commands: readonly ScriptCommand[], at: number, closer: string): number {
  let depth = 0;
  for (let i = at; i < commands.length; i++) {
    const head = literal(commands[i]!.words[0]);
    if (head !== undefined && head in closers) depth += 1;
    else if (head === "fi" || head === "esac" || head === "done") depth -= 1;
    if (depth === 0 && head === closer) return i + 1;
  }
  return commands.length;
}

/** A test, or the end of one that `&&` cuts: `[[ a && b ]]`. */
export const isTest = ({ words }: ScriptCommand): boolean =>
  ["[", "[[", "test"].includes(literal(words[0]) ?? "") || ["]", "]]"].includes(literal(words.at(-1)) ?? "");

/** The index after the command at `at`, or after the whole block that it opens. */
export function nextAfter(commands: readonly ScriptCommand[], at: number): number {
  const head = literal(commands[at]!.words[0]) ?? "";
  const closer = closers[head];
  if (closer !== undefined) return endOf(commands, at, closer);
  if (head !== "{") return at + 1;
  const close = commands.findIndex(({ words }, i) => i >= at && literal(words.at(-1)) === "}");
  return close < 0 ? commands.length : close + 1;
}

/** The indices of the block's own `elif`, `else` and `fi`, not those of blocks inside it. */
export function topLevel(
  commands: readonly ScriptCommand[],
  at: number,
  end: number,
  marks: readonly string[],
): number[] {
  const found: number[] = [];
  let depth = 0;
  for (let i = at; i < end; i++) {
    const head = literal(commands[i]!.words[0]) ?? "";
    if (head in closers) depth += 1;
    if (depth === 1 && marks.includes(head)) found.push(i);
    if (["fi", "esac", "done"].includes(head)) depth -= 1;
  }
  return found;
}

/** The span from the first command to the last; empty if there is none. */
export function spanOf(commands: readonly ScriptCommand[]): CodeSpan[] {
  const spans = commands.flatMap(({ words }) => words.flatMap((word) => word.map(({ span }) => span)));
  if (spans.length === 0) return [];
  const [starts, ends] = [spans.map(({ start }) => start), spans.map(({ end }) => end)];
  return [{ start: Math.min(...starts), end: Math.max(...ends) }];
}

/** `then`, `do` and `else` as commands of their own: what follows them may open a block. */
export const withKeywordsApart = (commands: readonly ScriptCommand[]): ScriptCommand[] =>
  commands.flatMap((command) => {
    const head = literal(command.words[0]);
    if (command.words.length < 2 || !["then", "do", "else"].includes(head ?? "")) return [command];
    return [
      { ...command, words: command.words.slice(0, 1) },
      ...withKeywordsApart([{ ...command, words: command.words.slice(1) }]),
    ];
  });
