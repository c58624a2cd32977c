/** Regular expressions as trees: the part of JavaScript's syntax that an automaton can decide, whole texts only. */
import { UserError } from "../../../shared/lib/errors.ts";

/** Code points, inclusive, ascending and apart. */
export type CodePoints = readonly (readonly [number, number])[];

export type Expression =
  | { readonly kind: "one"; readonly of: CodePoints }
  | { readonly kind: "sequence"; readonly parts: readonly Expression[] }
  | { readonly kind: "either"; readonly parts: readonly Expression[] }
  | { readonly kind: "repeat"; readonly of: Expression; readonly least: number; readonly most: number };

const LAST = 0x10ffff;
const range = (from: string, to = from): readonly [number, number] => [
  from.codePointAt(0)!,
  to.codePointAt(0)!,
];
const digits: CodePoints = [range("0", "9")];
const wordCharacters: CodePoints = [range("0", "9"), range("A", "Z"), range("_"), range("a", "z")];
const spaces: CodePoints = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const lineEnds: CodePoints = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];
const control: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v", 0: "\0" };
/** What a repetition counted in braces may reach. */
const MOST_REPEATS = 1000;

function union(sets: CodePoints): CodePoints {
  const sorted = [...sets].sort((a, b) => a[0] - b[0]);
  const joined: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}
function complement(set: CodePoints): CodePoints {
  const rest: [number, number][] = [];
  let next = 0;
  for (const [from, to] of set) {
    if (from > next) rest.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= LAST) rest.push([next, LAST]);
  return rest;
}

class Parser {
  private at = 0;
  private readonly text: readonly string[];
  constructor(private readonly source: string) {
    this.text = Array.from(source);
  }

  /** `^` at the beginning and `$` at the end say what is so anyway. */
  whole(): Expression {
    this.skip("^");
    const found = this.either();
    if (this.at < this.text.length) throw this.problem(`"${this.text[this.at]!}" has no counterpart`);
    return found;
  }
  private problem(what: string): UserError {
    return new UserError(
      `The regular expression ${this.source} cannot be used at character ${this.at + 1}: ${what}.`,
      {
        code: "grammar-regex",
        action:
          "Use literals, classes, groups, |, *, +, ? and {n,m}; the whole response has to match, so anchors are not needed.",
      },
    );
  }
  private peek(): string | undefined {
    return this.text[this.at];
  }
  private skip(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }
  private either(): Expression {
    const parts = [this.sequence()];
    while (this.skip("|")) parts.push(this.sequence());
    return parts.length === 1 ? parts[0]! : { kind: "either", parts };
  }
  private sequence(): Expression {
    const parts: Expression[] = [];
    for (let next = this.peek(); next !== undefined && next !== "|" && next !== ")"; next = this.peek()) {
      if (next === "$" && this.at === this.text.length - 1) {
        this.at += 1;
        break;
      }
      parts.push(this.repeated(this.atom()));
    }
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts };
  }
  private repeated(of: Expression): Expression {
    let result = of;
    for (;;) {
      const bounds = this.bounds();
      if (bounds === undefined) return result;
      // A lazy repetition matches the same whole texts.
      this.skip("?");
      result = { kind: "repeat", of: result, ...bounds };
    }
  }
  private bounds(): { least: number; most: number } | undefined {
    if (this.skip("*")) return { least: 0, most: Infinity };
    if (this.skip("+")) return { least: 1, most: Infinity };
    if (this.skip("?")) return { least: 0, most: 1 };
    if (this.peek() !== "{") return undefined;
    const end = this.text.indexOf("}", this.at);
    const written = end < 0 ? "" : this.text.slice(this.at + 1, end).join("");
    const found = /^(\d+)(?:(,)(\d*))?$/.exec(written);
    if (found === null) throw this.problem('"{" does not begin a count such as {2}, {2,} or {2,5}');
    const least = Number(found[1]);
    const most = found[2] === undefined ? least : found[3] === "" ? Infinity : Number(found[3]);
    if (most < least || Math.max(least, most === Infinity ? 0 : most) > MOST_REPEATS)
      throw this.problem(`{${written}} counts backwards or beyond ${MOST_REPEATS}`);
    this.at = end + 1;
    return { least, most };
  }
  private atom(): Expression {
    const character = this.text[this.at]!;
    if (character === "(") return this.group();
    if (character === "[") return { kind: "one", of: this.characterClass() };
    if (character === ".") {
      this.at += 1;
      return { kind: "one", of: complement(lineEnds) };
    }
    if ("*+?{".includes(character)) throw this.problem(`"${character}" has nothing to repeat`);
    if ("^$".includes(character)) throw this.problem(`"${character}" may only be at the ends`);
    if (character === "\\") return { kind: "one", of: this.escape() };
    this.at += 1;
    return { kind: "one", of: [range(character)] };
  }
  private group(): Expression {
    this.at += 1;
    if (this.skip("?") && !this.skip(":"))
      throw this.problem("groups are ( ) and (?: ); lookahead and lookbehind cannot be used");
    const inside = this.either();
    if (!this.skip(")")) throw this.problem('a "(" is not closed');
    return inside;
  }
  /** A class, or one character. */
  private escape(): CodePoints {
    this.at += 1;
    const character = this.peek();
    if (character === undefined) throw this.problem('"\\" ends the expression');
    this.at += 1;
    const classes: Readonly<Record<string, CodePoints>> = {
      d: digits,
      D: complement(digits),
      w: wordCharacters,
      W: complement(wordCharacters),
      s: spaces,
      S: complement(spaces),
    };
    const found = classes[character];
    if (found !== undefined) return found;
    if (character === "x") return [this.coded(2)];
    if (character === "u") return [this.peek() === "{" ? this.braced() : this.coded(4)];
    const controlled = control[character];
    if (controlled !== undefined) return [range(controlled)];
    if (/[a-zA-Z0-9]/.test(character)) {
      this.at -= 1;
      throw this.problem(`"\\${character}" is not supported`);
    }
    return [range(character)];
  }
  private coded(length: number): readonly [number, number] {
    const written = this.text.slice(this.at, this.at + length).join("");
    if (!/^[0-9a-f]+$/i.test(written) || written.length < length)
      throw this.problem(`${length} hexadecimal digits are missing`);
    this.at += length;
    return [parseInt(written, 16), parseInt(written, 16)];
  }
  private braced(): readonly [number, number] {
    const end = this.text.indexOf("}", this.at);
    const written = this.text.slice(this.at + 1, Math.max(end, this.at)).join("");
    const code = /^[0-9a-f]{1,6}$/i.test(written) ? parseInt(written, 16) : Infinity;
    if (code > LAST) throw this.problem("\\u{…} takes a code point");
    this.at = end + 1;
    return [code, code];
  }
  private characterClass(): CodePoints {
    this.at += 1;
    const negated = this.skip("^");
    const members: (readonly [number, number])[] = [];
    while (!this.skip("]")) {
      const low = this.member();
      if (this.peek() === "-" && this.text[this.at + 1] !== "]" && low.length === 1) {
        this.at += 1;
        const [[from] = [0]] = low;
        const to = this.member()[0]?.[1] ?? 0;
        if (to < from) throw this.problem("a range in a class goes backwards");
        members.push([from, to]);
      } else members.push(...low);
    }
    const set = negated ? complement(union(members)) : union(members);
    if (set.length === 0) throw this.problem("a class has no character");
    return set;
  }
  private member(): CodePoints {
    const character = this.peek();
    if (character === undefined) throw this.problem('a "[" is not closed');
    if (character === "\\") return this.escape();
    this.at += 1;
    return [range(character)];
  }
}

/** @throws UserError naming the place and what is not understood there. */
export const parseRegex = (source: string): Expression => new Parser(source).whole();

/** A tree that matches one text. */
export const literal = (text: string): Expression => ({
  kind: "sequence",
  parts: Array.from(text, (character) => ({ kind: "one", of: [range(character)] })),
});
