/** What a person types to find answers: words, "phrases", beginnings (`wor*`), `-without`, or a regular expression (`/…/i`). */
import { UserError } from "../../../shared/lib/errors.ts";

export type Wanted =
  | {
      readonly kind: "words";
      /** As the index of SQLite's FTS5 takes it: every word quoted, so that none of it is its syntax. */
      readonly match: string;
      /** What to mark in a text: words as they are compared, and whether only their beginning is given. */
      readonly marks: readonly { readonly words: readonly string[]; readonly prefix: boolean }[];
    }
  | { readonly kind: "regex"; readonly source: string; readonly flags: string };

const part = /(-)?(?:"([^"]*)"|([^\s"]+))(\*)?/g;

/** @throws UserError where nothing can be looked for */
export function wantedOf(text: string): Wanted {
  const regex = /^\/(.+)\/([ims]*)$/s.exec(text.trim());
  if (regex !== null) return regexOf(regex[1] ?? "", regex[2] ?? "");
  const [found, left]: [string[], string[]] = [[], []];
  const marks: { words: string[]; prefix: boolean }[] = [];
  for (const [, minus, phrase, word = "", star] of text.matchAll(part)) {
    const prefix = star !== undefined || word.endsWith("*");
    const words = wordsOf(phrase ?? word);
    if (words.length === 0) continue;
    const quoted = `"${words.join(" ")}"${prefix ? " *" : ""}`;
    if (minus === undefined) {
      found.push(quoted);
      marks.push({ words, prefix });
    } else left.push(quoted);
  }
  if (found.length === 0)
    throw new UserError("There is no word to look for.", {
      code: "search",
      action: 'Name words, a "phrase", a beginning (wor*), -without, or a regular expression: /x+y/i.',
    });
  const without = left.length === 0 ? "" : ` NOT (${left.join(" OR ")})`;
  return { kind: "words", match: `(${found.join(" AND ")})${without}`, marks };
}

function regexOf(source: string, flags: string): Wanted {
  try {
    new RegExp(source, `${flags}u`);
    return { kind: "regex", source, flags: `${flags}u` };
  } catch (error) {
    throw new UserError(
      `The regular expression cannot be read: ${error instanceof Error ? error.message : ""}.`,
      {
        code: "search",
        cause: error,
        action: "Write it as JavaScript has it, between slashes: /x+y/i.",
      },
    );
  }
}

/** Letters, digits and what goes with them, as the tokenizer `unicode61` cuts and compares them. */
const token = /[\p{L}\p{N}\p{Co}]+/gu;

/** Without marks and case. Of equal length, but for letters that have no single form: then nothing is marked. */
export const folded = (text: string): string =>
  text.normalize("NFC").replace(/\p{L}\p{M}*/gu, (letter) => {
    const plain = letter.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    return plain.length === letter.length ? plain : letter.toLowerCase();
  });

export const wordsOf = (text: string): string[] => folded(text).match(token) ?? [];

export interface Token {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}
export const tokensOf = (text: string): Token[] =>
  [...folded(text).matchAll(token)].map((found) => ({
    word: found[0],
    start: found.index,
    end: found.index + found[0].length,
  }));
