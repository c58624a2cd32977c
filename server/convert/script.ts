/**
 * What a launch script runs: a small reading of the shell, enough for assignments, `${X:-default}`, arrays, arithmetic
 * and simple tests. Nothing is executed.
 */
import { homedir } from "node:os";
import { whole } from "./arithmetic.ts";
import { apart, endOf, isName, literal, topLevel, without } from "./blocks.ts";
import { closingOf, commandsOf, type Piece, type ScriptCommand, type Word } from "./words.ts";

export interface Launch {
  readonly words: readonly string[];
  /** 0-based line of its first word. */
  readonly line: number;
}
export interface Script {
  readonly launches: readonly Launch[];
  /** Variables that the script reads and nobody sets. */
  readonly unset: readonly string[];
}

type Value = string | readonly string[];
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
]);

class Shell {
  readonly launches: Launch[] = [];
  readonly unset = new Set<string>();
  private readonly variables = new Map<string, Value>([["HOME", homedir()]]);
  private readonly functions = new Map<string, readonly ScriptCommand[]>();
  private depth = 0;

  run(commands: readonly ScriptCommand[]): void {
    for (let at = 0; at < commands.length;) at = this.step(commands, at);
  }

  /** Runs the command (or whole block) at `at`; gives the place behind it. */
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
      const [test, ...body] = commands.slice(from, mark);
      const head = literal(test?.words[0]);
      if (head === "else" || (test !== undefined && this.holds(test.words.slice(1)))) {
        this.run(body);
        break;
      }
      from = mark;
    }
    return end;
  }

  private choose(commands: readonly ScriptCommand[], at: number): number {
    const end = endOf(commands, at, "esac");
    const subject = this.expand(commands[at]!.words[1] ?? []).join(" ");
    let body = commands.slice(at + 1, end - 1);
    while (body.length > 0) {
      const close = body.findIndex(({ words }) => literal(words[0]) === ")");
      if (close < 0) break;
      const patterns = body
        .slice(0, close)
        .flatMap(({ words }) => words.map((word) => this.expand(word).join("")));
      const next = body.findIndex(({ words }) => literal(words[0]) === ";;");
      const stop = next < 0 ? body.length : next;
      if (patterns.some((pattern) => matches(subject, pattern))) {
        this.run(body.slice(close + 1, stop));
        break;
      }
      body = body.slice(stop + 1);
    }
    return end;
  }

  /** A sweep: its first round stands for all. */
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
      commands.slice(at, end).map((command) => without(command, [], "{")[0] ?? command),
    );
    return end + 1;
  }

  private simple(all: readonly Word[], { input, line }: ScriptCommand): void {
    let words = all;
    while (words.length > 0) {
      const head = literal(words[0]);
      if (head !== undefined && skipped.has(head)) words = words.slice(1);
      else if (/^-\w+$/.test(head ?? "") && words.length < all.length) words = words.slice(1);
      else if (this.assign(words[0]!)) words = words.slice(1);
      else break;
    }
    const found = words.flatMap((word) => this.expand(word));
    const [name] = found;
    if (name === undefined) return;
    const body = this.functions.get(name);
    if (name === "read") this.fill(found, input);
    else if (body !== undefined && this.depth < 8) {
      this.depth += 1;
      found.slice(1).forEach((word, i) => this.variables.set(String(i + 1), word));
      this.run(body);
      this.depth -= 1;
    } else this.launches.push({ words: found, line });
  }

  /** `read -r -d '' name <<EOF`: how OpenRLHF's examples write a long command. */
  private fill(words: readonly string[], input: Word | undefined): void {
    const name = words.at(-1);
    if (name !== undefined && input !== undefined) this.variables.set(name, this.expand(input).join(" "));
  }

  private assign(word: Word): boolean {
    const first = word[0];
    if (first === undefined || first.quoted) return false;
    const match = assignment.exec(first.text);
    if (match === null) return false;
    const [, name = "", append, start = ""] = match;
    const rest: Word = [{ ...first, text: start }, ...word.slice(1)];
    const array = rest.find(({ text, raw, quoted }) => raw && quoted && text.startsWith("("));
    const value: Value =
      array === undefined || start !== ""
        ? this.joined(rest)
        : commandsOf(array.text.slice(1, -1)).flatMap(({ words }) =>
            words.flatMap((item) => this.expand(item)),
          );
    const before = this.variables.get(name);
    const whole =
      append !== "+" || before === undefined
        ? value
        : typeof value === "string" && typeof before === "string"
          ? before + value
          : [before, value].flat();
    this.variables.set(name, whole);
    return true;
  }

  private joined(word: Word): string {
    return word.map((piece) => this.text(piece)).join("");
  }

  /** A word as the shell hands it over: an array gives many, an unquoted variable is split at blanks. */
  private expand(word: Word): string[] {
    const whole = word.length === 1 ? /^\$\{(\w+)\[[@*]\]\}$/.exec(word[0]!.text) : null;
    if (whole !== null && word[0]!.raw) return [...this.list(whole[1]!)];
    const text = this.joined(word);
    const bare = word.every(({ quoted }) => !quoted) && word.some(({ text }) => text.includes("$"));
    if (bare && !text.includes("$("))
      return commandsOf(
        text.replace(/[;&|()\n]/g, (letter) => (letter === "\n" ? " " : `\\${letter}`)),
      ).flatMap(({ words }) => words.map((part) => part.map(({ text }) => text).join("")));
    return [text];
  }

  private list(name: string): readonly string[] {
    const value = this.variables.get(name);
    return value === undefined ? [] : typeof value === "string" ? [value] : value;
  }

  private text({ text, raw }: Piece): string {
    if (!raw) return text;
    let result = "";
    for (let at = 0; at < text.length;) {
      if (text.startsWith("\\$", at)) {
        result += "$";
        at += 2;
      } else if (text.startsWith("$((", at)) {
        const end = closingOf(text, at + 1, "(", ")");
        result += this.arithmetic(text.slice(at + 3, end - 2));
        at = end;
      } else if (text.startsWith("$(", at)) {
        const end = closingOf(text, at + 1, "(", ")");
        const inside = text.slice(at, end);
        result += inside.replace(/\s/g, "") === "$(pwd)" ? "." : inside;
        at = end;
      } else if (text.startsWith("${", at)) {
        const end = closingOf(text, at + 1, "{", "}");
        result += this.parameter(text.slice(at + 2, end - 1));
        at = end;
      } else if (text[at] === "$" && /[A-Za-z_0-9]/.test(text[at + 1] ?? "")) {
        const name = /^([A-Za-z_]\w*|\d)/.exec(text.slice(at + 1))![0];
        result += this.value(name);
        at += 1 + name.length;
      } else if (text[at] === "$" && /[@*#?]/.test(text[at + 1] ?? "")) at += 2;
      else result += text[at++];
    }
    return result;
  }

  /** `X`, `X:-default`, `X-default`, `X:=default`, `X[@]`, `X[0]`. */
  private parameter(inside: string): string {
    const match = /^(\w+)(\[[^\]]*\])?(?:(:?[-=?+])([\s\S]*))?/.exec(inside);
    if (match === null) return `\${${inside}}`;
    const [, name = "", index, rule, other = ""] = match;
    const set = this.variables.has(name) && (rule?.startsWith(":") !== true || this.value(name) !== "");
    if (rule?.endsWith("+") === true) return set ? this.text({ text: other, raw: true, quoted: true }) : "";
    if (!set && rule !== undefined && !rule.endsWith("?")) {
      const value = this.text({ text: other.replace(/^(["'])([\s\S]*)\1$/, "$2"), raw: true, quoted: true });
      if (rule.endsWith("=")) this.variables.set(name, value);
      return value;
    }
    if (index === undefined || /[@*]/.test(index)) return this.value(name);
    return this.list(name)[Number(index.slice(1, -1))] ?? "";
  }

  private value(name: string): string {
    const value = this.variables.get(name);
    if (value === undefined) {
      if (/^\d$/.test(name)) return "";
      this.unset.add(name);
      return `$${name}`;
    }
    return typeof value === "string" ? value : value.join(" ");
  }

  /** Whole numbers, + − * / % and brackets; anything else stays as it is written. */
  private arithmetic(inside: string): string {
    const text = inside.replace(/\$?\{?([A-Za-z_]\w*)\}?/g, (_, name: string) => this.value(name));
    const value = whole(text);
    return value === undefined ? `$((${inside}))` : String(value);
  }

  private holds(words: readonly Word[]): boolean {
    const found = words
      .map((word) => this.joined(word))
      .filter((word) => !["[", "[[", "]", "]]", "test"].includes(word));
    const [a = "", operator = "", b = ""] = found;
    if (found.length === 1) return a === "true";
    if (a === "-z") return operator === "" || operator.startsWith("$");
    if (a === "-n") return operator !== "" && !operator.startsWith("$");
    if (operator === "=" || operator === "==") return matches(a, b);
    if (operator === "!=") return !matches(a, b);
    const [x, y] = [Number(a), Number(b)];
    const compared = {
      "-eq": x === y,
      "-ne": x !== y,
      "-gt": x > y,
      "-ge": x >= y,
      "-lt": x < y,
      "-le": x <= y,
    };
    return Object.entries(compared).find(([name]) => name === operator)?.[1] ?? false;
  }
}

const matches = (text: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replace(/\*/g, ".*")
      .replace(/\?/g, ".")}$`,
    "s",
  ).test(text);

/** Every command with arguments that the script would run, in order. */
export function readScript(text: string): Script {
  const shell = new Shell();
  shell.run(apart(commandsOf(text.replace(/^\uFEFF/, ""))));
  return { launches: shell.launches, unset: [...shell.unset] };
}
