/** Words as commands receive them: assembled from the text, each letter with its offset. */
import {
  throughSubstitution,
  placeOf,
  traced,
  Tracing,
  type CodeSpan,
  type Traced,
  type Trail,
} from "./traced.ts";
import { commandsOf, type ShellPiece, type ShellWord } from "./words.ts";

/** A word as a command gets it. */
export interface LaunchWord extends Traced {
  /** As it was written, quotes included, at the level of its least substituted letter. */
  readonly span: CodeSpan;
  /** The substitutions through which the word as a whole came. */
  readonly trail: Trail;
}
/** What a variable holds: one text, or the words of an array. */
export type ShellValue = LaunchWord | readonly LaunchWord[];
export const isOne = (value: ShellValue): value is LaunchWord => "text" in value;

export interface WordPlace {
  readonly span: CodeSpan;
  readonly trail: Trail;
}

/** A word with text that no file contains. */
export const computedWord = (text: string): LaunchWord => ({
  ...traced(text, -1),
  offsets: Array.from({ length: text.length }, () => -1),
  span: { start: -1, end: -1 },
  trail: [],
});

export const sliceOf = <T extends Traced>(whole: T, from: number, to: number): T => ({
  ...whole,
  text: whole.text.slice(from, to),
  offsets: whole.offsets.slice(from, to),
  trails: whole.trails.slice(from, to),
});

/** The span of a word: from its first piece to its last, at the level of the least substituted. */
export function placeOfWord(word: ShellWord): WordPlace {
  const depth = Math.min(...word.map(({ trail }) => trail.length));
  const level = word.find(({ trail }) => trail.length === depth);
  const spans = word.map(({ span, trail }) => trail[depth] ?? span);
  return {
    span: {
      start: Math.min(...spans.map(({ start }) => start)),
      end: Math.max(...spans.map(({ end }) => end)),
    },
    trail: level?.trail ?? [],
  };
}

/** The place of a substitution without its quotes. */
export const placeInQuotes = (piece: ShellPiece): WordPlace => placeOf(piece, 0, piece.text.length);

export const inTrail = (word: LaunchWord, span: CodeSpan, trail: Trail): LaunchWord => ({
  ...throughSubstitution(word, span, trail),
  trail: [...trail, span, ...word.trail],
});

/** Words with blanks between them. */
export function joinedWords(words: readonly LaunchWord[]): LaunchWord {
  const [first] = words;
  if (first === undefined) return computedWord("");
  const made = new Tracing();
  for (const [i, word] of words.entries()) {
    if (i > 0) made.letter(" ", words[i - 1]!.span.end);
    made.add(word);
  }
  return { ...made.whole, span: first.span, trail: first.trail };
}

export function appended(before: ShellValue, value: ShellValue): ShellValue {
  if (!isOne(before) || !isOne(value)) return [before, value].flat();
  return { ...new Tracing().add(before).add(value).whole, span: value.span, trail: value.trail };
}

/** The words of a command inside one word. */
export const wordsWithin = (word: LaunchWord): LaunchWord[] => splitAtBlanks(word);

/** An unquoted variable is split at blanks: its text is read as words, without operators. */
export function splitAtBlanks(whole: LaunchWord): LaunchWord[] {
  const made = new Tracing();
  for (let i = 0; i < whole.text.length; i++) {
    const letter = whole.text[i]!;
    if (/[;&|()]/.test(letter)) made.letter("\\", whole.offsets[i]!);
    if (letter === "\n") made.letter(" ", whole.offsets[i]!);
    else made.add(whole, i, i + 1);
  }
  return commandsOf(made.whole).flatMap(({ words }) =>
    words.map((word) => {
      const letters = new Tracing();
      for (const piece of word) letters.add(piece);
      return { ...letters.whole, ...placeOfWord(word) };
    }),
  );
}
