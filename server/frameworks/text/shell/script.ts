/**
 * What a launch script runs: a small reading of the shell, enough for assignments, `${X:-default}`, arrays, arithmetic
 * and simple tests. Nothing is executed.
 */
import { homedir } from "node:os";
import { slashed } from "../../../../shared/lib/slashes.ts";
import { integerOf } from "./arithmetic.ts";
import {
  withKeywordsApart,
  nextAfter,
  endOf,
  isName,
  isTest,
  literal,
  spanOf,
  topLevel,
  withoutHead,
} from "./blocks.ts";
import {
  appended,
  placeOfWord,
  placeInQuotes,
  inTrail,
  isOne,
  computedWord,
  sliceOf,
  splitAtBlanks,
  joinedWords,
  type LaunchWord,
  type WordPlace,
  type ShellValue,
} from "./launchWord.ts";
import { holds, isUndecided, matches } from "./tests.ts";
import { placeOf, traced, Tracing, type CodeSpan, type Traced } from "./traced.ts";
import { closingOf, commandsOf, type ScriptCommand, type ShellWord } from "./words.ts";

export interface ScriptLaunch {
  readonly words: readonly LaunchWord[];
  /** 0-based line of its first word. */
  readonly line: number;
  /** What the script exports before it, and what stands in front of it: `NPROC_PER_NODE=8 swift rlhf`. */
  readonly environment: ReadonlyMap<string, LaunchWord>;
}
export interface Script {
  readonly launches: readonly ScriptLaunch[];
  /** Variables that the script reads and never sets, with the first span that reads them. */
  readonly unset: ReadonlyMap<string, CodeSpan>;
  /** Offsets where an unknown result begins: such a variable, `$(date)`. */
  readonly unknown: ReadonlySet<number>;
  /** Branches that are skipped although the result of their tests is unknown. */
  readonly undecided: readonly CodeSpan[];
  /** Variables that the script itself sets. */
  readonly set: readonly string[];
}

const assignment = /^([A-Za-z_]\w*)(\+?)=([\s\S]*)$/;
const skipped = new Set([
  "export",
  "local",
  "declare",
  "readonly",
  "exec",
  "nohup",
  "time",
  "command",
  "then",
  "do",
  "!",
  "{",
  "}",
]);

class Shell {
  readonly launches: ScriptLaunch[] = [];
  readonly unset = new Map<string, CodeSpan>();
  readonly unknown = new Set<number>();
  readonly undecided: CodeSpan[] = [];
  private readonly variables = new Map<string, ShellValue>([["HOME", computedWord(slashed(homedir()))]]);
  private readonly functions = new Map<string, readonly ScriptCommand[]>();
  private readonly exported = new Set<string>();
  private depth = 0;

  get set(): string[] {
    return [...this.variables.keys()];
  }

  run(commands: readonly ScriptCommand[]): void {
    let held: boolean | undefined = true;
    for (let at = 0; at < commands.length;) {
      const command = commands[at]!;
      if (held !== undefined && command.after === (held ? "||" : "&&")) at = nextAfter(commands, at);
      else {
        held = isTest(command) ? this.holds(command) : literal(command.words[0]) !== "false";
        at = this.step(commands, at);
      }
    }
  }

  private holds({ words }: ScriptCommand): boolean | undefined {
    return holds(words.map((word) => this.joined(word).text));
  }

  /** Tests in a row after `if`; one that is not understood counts as false. */
  private allHold(commands: readonly ScriptCommand[]): boolean {
    return commands.reduce(
      (held, command) => (command.after === (held ? "||" : "&&") ? held : (this.holds(command) ?? false)),
      true,
    );
  }

  /** Runs the command (or whole block) at `at`; returns the index after it. */
  private step(commands: readonly ScriptCommand[], at: number): number {
    const command = commands[at]!;
    const head = literal(command.words[0]);
    if (head === "if") return this.branch(commands, at);
    if (head === "case") return this.choose(commands, at);
    if (head === "for") return this.loop(commands, at);
    if (head === "while" || head === "until") return endOf(commands, at, "done");
    if (
      literal(commands[at + 1]?.words[0]) === "(" &&
      literal(commands[at + 2]?.words[0]) === ")" &&
      isName(head)
    )
      return this.define(head, commands, at + 3);
    if (head === "function") return this.define(literal(command.words[1]) ?? "", commands, at + 1);
    this.simple(command.words, command);
    return at + 1;
  }

  private branch(commands: readonly ScriptCommand[], at: number): number {
    const end = endOf(commands, at, "fi");
    const marks = topLevel(commands, at, end, ["elif", "else", "fi"]);
    let from = at;
    for (const mark of marks) {
      const [first, ...rest] = commands.slice(from, mark);
      const then = rest.findIndex(({ words }) => literal(words[0]) === "then");
      const tests = withoutHead(first!, rest.slice(0, Math.max(then, 0)));
      const body = rest.slice(then + 1);
      if (literal(first?.words[0]) === "else" || this.allHold(tests)) {
        this.run(body);
        break;
      }
      const words = tests.flatMap((test) => test.words.map((word) => this.joined(word).text));
      if (isUndecided(words)) this.undecided.push(...spanOf(body));
      from = mark;
    }
    return end;
  }

  private choose(commands: readonly ScriptCommand[], at: number): number {
    const end = endOf(commands, at, "esac");
    const subject = joinedWords(this.expand(commands[at]!.words[1] ?? [])).text;
    const body = commands.slice(at + 1, end - 1);
    if (isUndecided([subject])) this.undecided.push(...spanOf(body));
    else this.arm(subject, body);
    return end;
  }

  /** Runs the first arm of a `case` that takes the subject. */
  private arm(subject: string, arms: readonly ScriptCommand[]): void {
    let body = arms;
    while (body.length > 0) {
      const close = body.findIndex(({ words }) => literal(words[0]) === ")");
      if (close < 0) break;
      const patterns = body
        .slice(0, close)
        .flatMap(({ words }) => words.map((word) => this.joined(word).text));
      const next = body.findIndex(({ words }) => literal(words[0]) === ";;");
      const stop = next < 0 ? body.length : next;
      if (patterns.some((pattern) => matches(subject, pattern))) {
        this.run(body.slice(close + 1, stop));
        break;
      }
      body = body.slice(stop + 1);
    }
  }

  /** A sweep: only its first round is read. */
  private loop(commands: readonly ScriptCommand[], at: number): number {
    const end = endOf(commands, at, "done");
    const [, name, , ...items] = commands[at]!.words;
    const first = items.flatMap((word) => this.expand(word))[0];
    if (first !== undefined) this.variables.set(literal(name) ?? "", first);
    this.run(commands.slice(at + 1, end - 1));
    return end;
  }

  private define(name: string, commands: readonly ScriptCommand[], at: number): number {
    const close = commands.findIndex(({ words }, i) => i >= at && literal(words[0]) === "}");
    const end = close < 0 ? commands.length : close;
    this.functions.set(
      name,
      commands.slice(at, end).map((command) => withoutHead(command, [], "{")[0] ?? command),
    );
    return end + 1;
  }

  private simple(all: readonly ShellWord[], { input, line }: ScriptCommand): void {
    let words = all;
    const assigned = new Set<string>();
    let exports = false;
    while (words.length > 0) {
      const head = literal(words[0]);
      exports ||= head === "export";
      const name = this.assign(words[0]!);
      if (name !== undefined) assigned.add(name);
      else if (!this.isPassedOver(head, words.length < all.length)) break;
      words = words.slice(1);
    }
    if (exports)
      for (const name of [...assigned, ...words.flatMap((word) => literal(word) ?? [])])
        this.exported.add(name);
    const found = exports ? [] : words.flatMap((word) => this.expand(word));
    const name = found[0]?.text;
    if (name === undefined) return;
    const body = this.functions.get(name);
    if (name === "read") this.fill(found, input);
    else if (body !== undefined && this.depth < 8) {
      this.depth += 1;
      found.slice(1).forEach((word, i) => this.variables.set(String(i + 1), word));
      this.run(body);
      this.depth -= 1;
    } else this.launches.push({ words: found, line, environment: this.environment(assigned) });
  }

  private isPassedOver(head: string | undefined, follows: boolean): boolean {
    return (head !== undefined && skipped.has(head)) || (follows && /^-\w+$/.test(head ?? ""));
  }

  private environment(assigned: ReadonlySet<string>): ReadonlyMap<string, LaunchWord> {
    return new Map(
      [...this.exported, ...assigned].flatMap((name) => {
        const value = this.variables.get(name);
        return value === undefined || !isOne(value) ? [] : [[name, value] as const];
      }),
    );
  }

  /** `read -r -d '' name <<EOF`: how OpenRLHF's examples write a long command. */
  private fill(words: readonly LaunchWord[], input: ShellWord | undefined): void {
    const name = words.at(-1)?.text;
    if (name !== undefined && input !== undefined) this.variables.set(name, joinedWords(this.expand(input)));
  }

  /** The name that a word assigns to; undefined for any other word. */
  private assign(word: ShellWord): string | undefined {
    const first = word[0];
    if (first === undefined || first.quoted) return undefined;
    const match = assignment.exec(first.text);
    if (match === null) return undefined;
    const [, name = "", append, start = ""] = match;
    const cut = first.text.length - start.length;
    const rest: ShellWord = [sliceOf(first, cut, first.text.length), ...word.slice(1)];
    const array = rest.find(({ text, raw, quoted }) => raw && quoted && text.startsWith("("));
    const value: ShellValue =
      array === undefined || start !== ""
        ? this.joined(rest)
        : commandsOf(sliceOf(array, 1, array.text.length - 1)).flatMap(({ words }) =>
            words.flatMap((item) => this.expand(item)),
          );
    const before = this.variables.get(name);
    this.variables.set(name, append !== "+" || before === undefined ? value : appended(before, value));
    return name;
  }

  private joined(word: ShellWord): LaunchWord {
    const made = new Tracing();
    for (const piece of word) this.put(piece, made);
    return { ...made.whole, ...placeOfWord(word) };
  }

  /** A word as the shell hands it over: an array gives many, an unquoted variable is split at blanks. */
  private expand(word: ShellWord): LaunchWord[] {
    const [first] = word;
    const array = word.length === 1 && first!.raw ? /^\$\{(\w+)\[[@*]\]\}$/.exec(first!.text) : null;
    if (array !== null) {
      const { span, trail } = placeInQuotes(first!);
      return this.list(array[1]!).map((item) => inTrail(item, span, trail));
    }
    const whole = this.joined(word);
    const bare = word.every(({ quoted }) => !quoted) && word.some(({ text }) => text.includes("$"));
    return bare && !whole.text.includes("$(") ? splitAtBlanks(whole) : [whole];
  }

  private list(name: string): readonly LaunchWord[] {
    const value = this.variables.get(name);
    return value === undefined ? [] : isOne(value) ? [value] : value;
  }

  /** The letters of a piece, with its variables substituted. */
  private put(piece: Traced & { readonly raw: boolean }, made: Tracing): void {
    const { text, raw } = piece;
    if (!raw) made.add(piece);
    else
      for (let at = 0; at < text.length;) {
        if (text.startsWith("\\$", at)) made.add(piece, at + 1, at + 2);
        const end = text.startsWith("\\$", at) ? at + 2 : this.substituted(piece, at, made);
        if (end === at) made.add(piece, at, at + 1);
        at = end === at ? at + 1 : end;
      }
  }

  /** Substitutes at `at` of the piece, if a substitution begins there; returns the index after it. */
  private substituted(piece: Traced, at: number, made: Tracing): number {
    const { text } = piece;
    if (text[at] !== "$") return at;
    const open = text[at + 1];
    if (open === "(" || open === "{") {
      const end = closingOf(text, at + 1, open, open === "(" ? ")" : "}");
      const place = placeOf(piece, at, end);
      if (text.startsWith("$((", at)) this.arithmetic(text.slice(at + 3, end - 2), place, made);
      else if (open === "(") this.command(text.slice(at, end), place, made);
      else this.parameter(sliceOf(piece, at + 2, end - 1), place, made);
      return end;
    }
    const name = /^\$([A-Za-z_]\w*|\d)/.exec(text.slice(at))?.[1];
    if (name === undefined) return /[@*#?]/.test(open ?? "") ? at + 2 : at;
    const end = at + 1 + name.length;
    this.variable(name, placeOf(piece, at, end), made);
    return end;
  }

  private command(inside: string, { span, trail }: WordPlace, made: Tracing): void {
    const here = inside.replace(/\s/g, "") === "$(pwd)";
    if (!here) this.unknown.add(span.start);
    made.computed(here ? "." : inside, span, trail);
  }

  /** `X`, `X:-default`, `X-default`, `X:=default`, `X[@]`, `X[0]`. */
  private parameter(inside: Traced, place: WordPlace, made: Tracing): void {
    const match = /^(\w+)(\[[^\]]*\])?(?:(:?[-=?+])([\s\S]*))?/.exec(inside.text);
    if (match === null) {
      this.unknown.add(place.span.start);
      return void made.computed(`\${${inside.text}}`, place.span, place.trail);
    }
    const [, name = "", index, rule, other = ""] = match;
    const set = this.variables.has(name) && (rule?.startsWith(":") !== true || this.textOf(name) !== "");
    if (rule?.endsWith("+") === true) {
      if (set) made.through(this.fallback(inside, other), place.span, place.trail);
      return;
    }
    if (!set && rule !== undefined && !rule.endsWith("?")) {
      const value = this.fallback(inside, other);
      if (rule.endsWith("=")) this.variables.set(name, { ...value, ...place });
      return void made.through(value, place.span, place.trail);
    }
    if (index === undefined || /[@*]/.test(index)) return this.variable(name, place, made);
    const item = this.list(name)[Number(index.slice(1, -1))];
    if (item !== undefined) made.through(item, place.span, place.trail);
  }

  /** The text after `:-`. */
  private fallback(inside: Traced, other: string): Traced {
    const [from, to] = [inside.text.length - other.length, inside.text.length];
    const quotes = /^(["'])[\s\S]*\1$/.test(other) && other.length > 1 ? 1 : 0;
    const made = new Tracing();
    this.put({ ...sliceOf(inside, from + quotes, to - quotes), raw: true }, made);
    return made.whole;
  }

  private variable(name: string, { span, trail }: WordPlace, made: Tracing): void {
    const value = this.variables.get(name);
    if (value !== undefined) return void made.through(isOne(value) ? value : joinedWords(value), span, trail);
    this.unknown.add(span.start);
    if (/^\d$/.test(name)) return;
    if (!this.unset.has(name)) this.unset.set(name, span);
    made.computed(`$${name}`, span, trail);
  }

  private textOf(name: string): string {
    return joinedWords(this.list(name)).text;
  }

  /** Whole numbers, + − * / % and brackets; anything else stays as it is written. */
  private arithmetic(inside: string, { span, trail }: WordPlace, made: Tracing): void {
    const text = inside.replace(/\$?\{?([A-Za-z_]\w*)\}?/g, (_, name: string) => {
      const put = new Tracing();
      this.variable(name, { span, trail }, put);
      return put.whole.text;
    });
    const value = integerOf(text);
    if (value === undefined) this.unknown.add(span.start);
    made.computed(value === undefined ? `$((${inside}))` : String(value), span, trail);
  }
}

/** Every command with arguments that the script would run, in order. */
export function readScript(text: string): Script {
  const shell = new Shell();
  shell.run(withKeywordsApart(commandsOf(traced(text.replace(/^\uFEFF/, " ")))));
  return shell;
}
