/** What a Python file says of formats: the prompts that it writes, and the patterns that its functions look for. Nothing runs. */
import { partsOf } from "../../../lib/python/parts.ts";
import { tokensOf, type PythonToken } from "../../../lib/python/tokens.ts";

export interface WrittenPrompt {
  /** Of the name that it is given. */
  readonly name?: string;
  readonly text: string;
}

export interface PythonPattern {
  /** As Python writes it. */
  readonly source: string;
  /** Of `i`, `m` and `s`. */
  readonly flags: string;
  readonly how: "match" | "fullmatch" | "search";
  /** Of the text in the file. */
  readonly start: number;
  readonly end: number;
  /** The function that uses it; undefined: none does. */
  readonly within: string | undefined;
}

interface Text {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The token after it. */
  readonly next: number;
}

interface Defined {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** Of a file. */
const mostPatterns = 200;

const methods: Readonly<Record<string, PythonPattern["how"]>> = {
  match: "match",
  fullmatch: "fullmatch",
  search: "search",
  findall: "search",
  finditer: "search",
};
const letters: Readonly<Record<string, string>> = {
  DOTALL: "s",
  S: "s",
  IGNORECASE: "i",
  I: "i",
  MULTILINE: "m",
  M: "m",
  ASCII: "",
  A: "",
  UNICODE: "",
  U: "",
  NOFLAG: "",
};

export class PythonTexts {
  private readonly tokens: readonly PythonToken[];
  private readonly functions: readonly Defined[];
  private readonly byName: ReadonlyMap<string, Defined>;
  private read: readonly PythonPattern[] | undefined;

  constructor(private readonly source: string) {
    this.tokens = tokensOf(source);
    this.functions = this.definitions();
    this.byName = new Map(this.functions.map((one) => [one.name, one]));
  }

  /** Texts under a name that says so, and contents of messages. */
  prompts(): WrittenPrompt[] {
    return this.tokens.flatMap((token, i): WrittenPrompt[] => {
      const isContent = token.kind === "text" && token.text === "content" && this.is(i + 1, ":");
      const isNamed = token.kind === "name" && /prompt|system|instruct|format/i.test(token.text);
      if (!isContent && !(isNamed && this.is(i + 1, "="))) return [];
      const found = this.textAt(i + 2);
      return found === undefined ? [] : [{ text: found.text, ...(isNamed && { name: token.text }) }];
    });
  }

  /** Whether a text of the file begins an answer with this tag, as a prompt that ends with it does. */
  begins(tag: string): boolean {
    return this.tokens.some(({ kind, text }) => kind === "text" && text.trimEnd().endsWith(tag));
  }

  /** Those that a function uses, by itself or through others of the file. */
  patternsOf(name: string): PythonPattern[] {
    const reached = this.reached(name);
    this.read ??= this.patterns();
    return this.read.filter(({ within }) => within !== undefined && reached.has(within));
  }

  /** The highest number that a function gives by itself: `0.5 if … else 0.0`, `append(1.0)`; undefined: none is written. */
  mostOf(name: string): number | undefined {
    const { from, to } = this.byName.get(name) ?? { from: 0, to: 0 };
    const numbers = this.tokens.slice(from, to).flatMap((token, i, all) => {
      const given = all[i + 1]?.text === "if" || ["else", "return"].includes(all[i - 1]?.text ?? "");
      const appended = all[i - 1]?.text === "(" && all[i - 2]?.text === "append" && all[i + 1]?.text === ")";
      return token.kind === "number" && (given || appended) ? [Number(token.text.replaceAll("_", ""))] : [];
    });
    return numbers.length === 0 ? undefined : Math.max(...numbers);
  }

  lineOf(offset: number): number {
    return this.source.slice(0, offset).split("\n").length - 1;
  }

  private is(at: number, text: string): boolean {
    return this.tokens[at]?.kind === "operator" && this.tokens[at].text === text;
  }

  /** At the left margin. */
  private definitions(): Defined[] {
    const margins = this.tokens.flatMap(({ kind, indent }, i) =>
      kind === "line" && indent === 0 ? [i] : [],
    );
    return margins.flatMap((from, i): Defined[] => {
      const at = this.tokens[from + 1]?.text === "async" ? from + 2 : from + 1;
      const name = this.tokens[at]?.text === "def" ? this.tokens[at + 1]?.text : undefined;
      return name === undefined ? [] : [{ name, from, to: margins[i + 1] ?? this.tokens.length }];
    });
  }

  private reached(name: string): ReadonlySet<string> {
    const found = new Set<string>();
    const open = [name];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const one = this.byName.get(next);
      if (one === undefined || found.has(next)) continue;
      found.add(next);
      for (let i = one.from; i < one.to; i++)
        if (this.tokens[i]!.kind === "name" && this.is(i + 1, "(")) open.push(this.tokens[i]!.text);
    }
    return found;
  }

  /** Adjacent and added texts are one; undefined: something else is part of it. */
  private textAt(first: number): Text | undefined {
    let at = this.is(first, "(") ? first + 1 : first;
    const parts: PythonToken[] = [];
    for (; ; at++) {
      const token = this.tokens[at];
      if (token?.kind === "text") parts.push(token);
      else if (!(parts.length > 0 && this.is(at, "+"))) break;
    }
    const ends = this.tokens[at];
    const isWhole = ends === undefined || ends.kind === "line" || [")", ",", "}", "]"].includes(ends.text);
    if (parts.length === 0 || !isWhole) return undefined;
    const text = parts.map((part) => part.text).join("");
    return { text, start: parts[0]!.start, end: parts.at(-1)!.end, next: at };
  }

  private patterns(): PythonPattern[] {
    const calls = this.tokens.flatMap(({ kind, text }, i) => {
      const isCall =
        kind === "name" && Object.hasOwn(methods, text) && this.is(i - 1, ".") && this.is(i + 1, "(");
      return isCall && this.tokens[i - 2]?.kind === "name" ? [i] : [];
    });
    return calls.slice(0, mostPatterns).flatMap((at) => this.patternAt(at) ?? []);
  }

  /** @param at the method's name */
  private patternAt(at: number): PythonPattern | undefined {
    const receiver = this.tokens[at - 2]!.text;
    const ofModule = /^(re|regex)$/.test(receiver);
    const open = ofModule ? at + 1 : this.compiledAs(receiver, at);
    const found = open === undefined ? undefined : this.argumentsAt(open, ofModule ? 2 : 1);
    const how = methods[this.tokens[at]!.text];
    if (found === undefined || how === undefined) return undefined;
    const { text: source, flags, start, end } = found;
    const within = this.functions.find(({ from, to }) => from < at && at < to)?.name;
    return { source, flags, how, start, end, within };
  }

  /** The bracket of `name = re.compile(…)`. */
  private compiledAs(name: string, before: number): number | undefined {
    const at = this.assigned(name, before);
    const isCompile = at !== undefined && this.tokens[at + 2]?.text === "compile" && this.is(at + 3, "(");
    return isCompile ? at + 3 : undefined;
  }

  /** Where the value of a name begins: in the same function, else at the margin. */
  private assigned(name: string, before: number): number | undefined {
    const own = this.functions.find(({ from, to }) => from < before && before < to);
    const all = this.tokens.flatMap(({ kind, text }, i) =>
      kind === "name" && text === name && this.is(i + 1, "=") && this.tokens[i - 1]?.kind === "line"
        ? [i]
        : [],
    );
    const inside = all.filter((i) => own !== undefined && i > own.from && i < before);
    const outside = all.filter((i) => this.tokens[i - 1]!.indent === 0);
    const [found, ...others] = inside.length > 0 ? inside : outside;
    return found === undefined || others.length > 0 ? undefined : found + 2;
  }

  /** A pattern and its flags; undefined: one of them is not known. @param place of the flags among the arguments */
  private argumentsAt(open: number, place: number): (Text & { readonly flags: string }) | undefined {
    const [first, ...rest] = partsOf(this.tokens, open).parts;
    const named = first?.length === 1 && first[0]?.kind === "name" ? first[0] : undefined;
    const at = named === undefined ? open + 1 : this.assigned(named.text, open);
    const text = at === undefined ? undefined : this.textAt(at);
    const flags = rest.find((part) => part[0]?.text === "flags") ?? rest[place - 1];
    const words = (flags ?? []).filter(
      ({ kind, text: word }) => kind === "name" && !["re", "regex", "flags"].includes(word),
    );
    if (text === undefined || !words.every((word) => Object.hasOwn(letters, word.text))) return undefined;
    return { ...text, flags: [...new Set(words.map((word) => letters[word.text]!))].join("") };
  }
}
