/** A shell script cut into commands of words: quotes, comments, continued lines and here-documents. */
import { placeOf, traced, Tracing, type CodeSpan, type Traced, type Trail } from "./traced.ts";

/** A piece of a word: `raw` if variables are still to be substituted; `quoted` if the result is not split. */
export interface ShellPiece extends Traced {
  readonly raw: boolean;
  readonly quoted: boolean;
  /** With its quotes. */
  readonly span: CodeSpan;
  readonly trail: Trail;
}
export type ShellWord = readonly ShellPiece[];
export interface ScriptCommand {
  readonly words: readonly ShellWord[];
  /** What a here-document or here-string feeds it. */
  readonly input?: ShellWord | undefined;
  /** It runs only after a command that succeeded (`&&`) or failed (`||`). */
  readonly after?: "&&" | "||" | undefined;
  readonly line: number;
}

const blank = /[ \t\r]/;
const operator = /[;&|()\n]/;
/** A placeholder that a person fills in. */
const placeholder = /^<[A-Za-z][^<>\n]*>/;

/** Where a `$( … )`, `${ … }` or `( … )` that opens at `start` ends, after its closing bracket. */
export function closingOf(text: string, start: number, open: string, close: string): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === "\\") at += 1;
    else if (letter === "#" && open === "(" && /\s/.test(text[at - 1] ?? ""))
      at = Math.max(at, text.indexOf("\n", at));
    else if (letter === "'" && open === "(") at = Math.max(at, text.indexOf("'", at + 1));
    else if (letter === open) depth += 1;
    else if (letter === close && --depth === 0) return at + 1;
  }
  return text.length;
}

class Scanner {
  private at = 0;
  private line = 0;
  private pending: {
    readonly end: string;
    readonly raw: boolean;
    readonly take: (body: ShellWord) => void;
  }[] = [];
  private readonly text: string;

  constructor(private readonly source: Traced) {
    this.text = source.text;
  }

  commands(): ScriptCommand[] {
    const found: ScriptCommand[] = [];
    let words: ShellWord[] = [];
    let input: { body?: ShellWord } = {};
    let first = 0;
    let after: ScriptCommand["after"];
    const end = (): void => {
      const now = input;
      const [held, line] = [words, first];
      if (held.length > 0) {
        found.push(withInput(held, now, { line, after }));
        after = undefined;
      }
      [words, input] = [[], {}];
    };
    while (this.at < this.text.length) {
      const letter = this.text[this.at]!;
      if (blank.test(letter)) this.at += 1;
      else if (this.text.startsWith("\\\n", this.at) || this.text.startsWith("\\\r\n", this.at))
        this.newline(this.text.indexOf("\n", this.at) + 1);
      else if (letter === "#") this.at = this.endOfLine();
      else if (letter === "\n") {
        end();
        this.newline(this.at + 1);
        this.bodies();
      } else if (this.text.startsWith("<<", this.at)) this.redirect(input);
      else if (letter === "<" || letter === ">") this.redirectToFile(words);
      else if (this.text.startsWith("&>", this.at)) this.at += 1;
      else if (this.text.startsWith("&&", this.at) || this.text.startsWith("||", this.at)) {
        this.at += 2;
        end();
        after = letter === "&" ? "&&" : "||";
      } else if (operator.test(letter)) {
        this.at += 1;
        end();
        if ("()".includes(letter)) found.push({ words: [[this.mark(letter)]], line: this.line });
        else if (letter === ";" && this.text[this.at] === ";")
          found.push({ words: [[this.mark(";;")]], line: this.line });
      } else {
        if (words.length === 0) first = this.line;
        words.push(this.word());
      }
    }
    end();
    return found;
  }

  private newline(next: number): void {
    this.at = next;
    this.line += 1;
  }
  private endOfLine(): number {
    const end = this.text.indexOf("\n", this.at);
    return end < 0 ? this.text.length : end;
  }

  /** `2>&1`, `> file`, `< file` and `> >(command)`: no words of the command. `<your path>` stays a word. */
  private redirectToFile(words: ShellWord[]): void {
    if (placeholder.test(this.text.slice(this.at, this.at + 80))) {
      this.at += 1;
      return;
    }
    const digits = words.at(-1);
    if (/^\d$/.test(this.text[this.at - 1] ?? "") && digits?.length === 1 && /^\d+$/.test(digits[0]!.text))
      words.pop();
    while (/[<>&|]/.test(this.text[this.at] ?? "")) this.at += 1;
    while (blank.test(this.text[this.at] ?? "")) this.at += 1;
    if (/[<>]/.test(this.text[this.at] ?? "")) this.at += 1;
    if (this.text[this.at] === "(") this.at = closingOf(this.text, this.at, "(", ")");
    else this.word();
  }

  /** `<<EOF`, `<<-'EOF'` and `<<< word`. */
  private redirect(input: { body?: ShellWord }): void {
    if (this.text.startsWith("<<<", this.at)) {
      this.at += 3;
      while (blank.test(this.text[this.at] ?? "")) this.at += 1;
      input.body = this.word();
      return;
    }
    this.at += this.text[this.at + 2] === "-" ? 3 : 2;
    while (blank.test(this.text[this.at] ?? "")) this.at += 1;
    const mark = this.word();
    this.pending.push({
      end: mark.map(({ text }) => text).join(""),
      raw: mark.every(({ quoted }) => !quoted),
      take: (body) => (input.body = body),
    });
  }

  /** The here-documents whose commands ended with this line. */
  private bodies(): void {
    for (const { end, raw, take } of this.pending) {
      const body = new Tracing();
      const start = this.at;
      let [kept, stop] = [start, start];
      while (this.at < this.text.length) {
        const [from, to] = [this.at, this.endOfLine()];
        const line = this.text.slice(from, to);
        this.newline(to + 1);
        if (line.trim() === end) break;
        // The letter that joins two lines has the offset where the first one ends: its backslash, or its end.
        if (from > start) body.letter(kept < stop ? " " : "\n", this.source.offsets[kept]!);
        [kept, stop] = [raw ? to - (/\\\r?$/.exec(line)?.[0].length ?? 0) : to, to];
        body.add(this.source, from, kept);
      }
      take([this.piece(body.whole, start, stop, raw, true)]);
    }
    this.pending = [];
  }

  private word(): ShellWord {
    const pieces: ShellPiece[] = [];
    while (this.at < this.text.length) {
      const letter = this.text[this.at]!;
      if (blank.test(letter)) break;
      if (letter === "(" && pieces.at(-1)?.text.endsWith("=") === true) pieces.push(this.bracketed());
      else if (operator.test(letter) || letter === "<" || letter === ">") break;
      else if (letter === "\\") {
        if (/^\r?\n/.test(this.text.slice(this.at + 1, this.at + 3))) break;
        pieces.push(this.slice(this.at + 1, Math.min(this.at + 2, this.text.length), false, true));
        this.at += 2;
      } else if (letter === "'" || letter === '"') pieces.push(this.quoted(letter));
      else pieces.push(this.bare());
    }
    return pieces;
  }

  /** `NAME=( … )`: kept as text; the interpreter reads its words. */
  private bracketed(): ShellPiece {
    const end = closingOf(this.text, this.at, "(", ")");
    const start = this.at;
    this.line += this.text.slice(start, end).split("\n").length - 1;
    this.at = end;
    return this.slice(start, end, true, true);
  }

  private quoted(mark: string): ShellPiece {
    const made = new Tracing();
    const start = this.at;
    for (this.at += 1; this.at < this.text.length && this.text[this.at] !== mark; this.at++) {
      const next = this.text[this.at + 1] ?? "";
      if (this.text[this.at] === "\n") this.line += 1;
      if (mark === '"' && this.text[this.at] === "\\" && next !== "" && '"\\$`\n'.includes(next)) {
        this.at += 1;
        if (next === "$") made.add(this.source, this.at - 1, this.at + 1);
        else if (next === "\n") this.line += 1;
        else made.add(this.source, this.at, this.at + 1);
      } else if (mark === '"' && this.text.startsWith("$(", this.at)) {
        const end = closingOf(this.text, this.at + 1, "(", ")");
        made.add(this.source, this.at, end);
        this.at = end - 1;
      } else made.add(this.source, this.at, this.at + 1);
    }
    this.at += 1;
    return this.piece(made.whole, start, Math.min(this.at, this.text.length), mark === '"', true);
  }

  private bare(): ShellPiece {
    const start = this.at;
    while (this.at < this.text.length) {
      const rest = this.text[this.at]!;
      const next = this.text[this.at + 1];
      if (rest === "$" && (next === "{" || next === "("))
        this.at = closingOf(this.text, this.at + 1, next, next === "{" ? "}" : ")");
      else if (rest === "`") this.at = Math.max(this.at, this.text.indexOf("`", this.at + 1)) + 1;
      else if (blank.test(rest) || operator.test(rest) || "'\"\\<>".includes(rest)) break;
      else this.at += 1;
    }
    return this.slice(start, this.at, true, false);
  }

  private slice(from: number, to: number, raw: boolean, quoted: boolean): ShellPiece {
    return this.piece(new Tracing().add(this.source, from, to).whole, from, to, raw, quoted);
  }

  /** `from` and `to`: what it takes of the source, quotes included. */
  private piece(letters: Traced, from: number, to: number, raw: boolean, quoted: boolean): ShellPiece {
    return { ...letters, ...placeOf(this.source, from, to), raw, quoted };
  }

  private mark(text: string): ShellPiece {
    const start = this.source.offsets[this.at - 1] ?? 0;
    return { ...traced(text, start), span: { start, end: start + 1 }, trail: [], raw: false, quoted: true };
  }
}

/** The body of a here-document is known only after its command's line: the property is read late. */
const withInput = (
  words: readonly ShellWord[],
  held: { body?: ShellWord },
  at: Pick<ScriptCommand, "line" | "after">,
): ScriptCommand => ({
  words,
  ...at,
  get input() {
    return held.body;
  },
});

export const commandsOf = (source: Traced): ScriptCommand[] => new Scanner(source).commands();
