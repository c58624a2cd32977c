/** Signatures of functions in TypeScript and JavaScript, by a scan of the text. */
import { blanked, scriptNoise } from "../../../lib/texts/blanked.ts";
import { closingOf, outside, partsOf } from "./brackets.ts";
import { oneLine, type Parameter, type Pattern, type Signature, type Taken } from "./signature.ts";

interface Source {
  readonly text: string;
  /** Of the same length, without strings and comments. */
  readonly code: string;
}

export function scriptSignature(text: string, name: string): Signature | undefined {
  const source = { text, code: blanked(text, scriptNoise) };
  const start = declarationOf(source, name);
  if (start === undefined) return undefined;
  const open = source.code.indexOf("(", start.head);
  const close = open < 0 ? -1 : closingOf(source.code, open);
  if (close < 0) return undefined;
  const { returns, bodyAt } = afterHead(source, close + 1);
  const [first] = partsOf(source.code.slice(open + 1, close), ",");
  const taken = first === undefined ? none : takenBy(source, open + 1 + first.start, open + 1 + first.end);
  const doc = commentBefore(text, start.statement);
  const called = oneLine(text.slice(open, close + 1));
  return {
    name,
    language: "typescript",
    head: `${name}${called}${returns === undefined ? "" : `: ${returns}`}`,
    parameters: taken.parameters.map((parameter) => documented(parameter, doc)),
    returns,
    doc: doc.replaceAll(/^\s*@\w+[^\n]*$/gm, "").trim(),
    types: typesNamed(source, `${called} ${returns ?? ""}`),
    args: argsOf(source, taken, bodyAt).map((parameter) => documented(parameter, doc)),
    taken: taken.taken,
    line: text.slice(0, start.statement).split("\n").length - 1,
  };
}

const escaped = (name: string): string => name.replaceAll("$", String.raw`\$`);

/** Where the statement begins, and from where on its parameters are to be looked for. */
function declarationOf({ code }: Source, name: string): { statement: number; head: number } | undefined {
  const own = escaped(name);
  const forms =
    name === "default"
      ? [/\bexport\s+default\s+(?:async\s+)?(?:function\s*\*?\s*[\w$]*|(?=\())/]
      : [
          new RegExp(`(?:\\bexport\\s+)?(?:\\basync\\s+)?\\bfunction\\s*\\*?\\s*${own}(?![\\w$])`),
          new RegExp(
            `(?:\\bexport\\s+)?\\b(?:const|let|var)\\s+${own}\\s*(?::[^=]*)?=\\s*(?:async\\s+)?(?:function\\b[^(]*)?(?=\\(|<)`,
          ),
        ];
  for (const form of forms) {
    const found = form.exec(code);
    if (found !== null) return { statement: found.index, head: found.index + found[0].length };
  }
  const alias = new RegExp(`\\bexport\\s*\\{[^}]*?([\\w$]+)\\s+as\\s+${own}(?![\\w$])`).exec(code)?.[1];
  const local = alias ?? (name === "default" ? /\bexport\s+default\s+([\w$]+)/.exec(code)?.[1] : undefined);
  return local === undefined || local === name ? undefined : declarationOf({ text: code, code }, local);
}

/** The type after the parameters, and where the body begins. */
function afterHead({ text, code }: Source, from: number): { returns: string | undefined; bodyAt: number } {
  const rest = code.slice(from);
  const colon = /^\s*:/.exec(rest)?.[0].length;
  if (colon === undefined) return { returns: undefined, bodyAt: from };
  // An object type begins with a brace of its own.
  const own = /^\s*\{/.exec(rest.slice(colon));
  const skipped = own === null ? colon : Math.max(colon, closingOf(rest, colon + own[0].length - 1) + 1);
  const end = skipped + Math.max(0, rest.slice(skipped).search(/=>|\{/));
  return { returns: oneLine(text.slice(from + colon, from + end)), bodyAt: from + end };
}

interface Argument {
  readonly parameters: readonly Parameter[];
  /** What is taken out of `args`. */
  readonly args: readonly Parameter[];
  /** The parameter's own name, where it is not taken apart. */
  readonly whole: string | undefined;
  readonly taken?: Taken;
}
const none: Argument = { parameters: [], args: [], whole: undefined };

/** The one parameter, `{ response, args: { limit = 3 } }: Input`, and what its type says of each name. */
function takenBy(source: Source, start: number, end: number): Argument {
  const code = source.code.slice(start, end);
  const open = code.search(/\S/);
  const isPattern = code[open] === "{";
  const close = isPattern ? closingOf(code, open) : open - 1;
  const typeAt = close + 1 + outside(code.slice(close + 1), /^:/);
  const members = typeAt > close ? membersAt(source, start + typeAt + 1, end) : [];
  if (!isPattern || close < 0) {
    const whole = /[\w$]+/.exec(code)?.[0];
    return { parameters: members, args: argsMembers(source, members), whole };
  }
  const parts = partsOf(code.slice(open + 1, close), ",").map(
    ({ start: from, end: to }) => [start + open + 1 + from, start + open + 1 + to] as const,
  );
  const parameters = parts.map(([from, to]) => named(source, from, to, members));
  const args = parts.find(([from, to]) => /^\s*args\s*:\s*\{/.test(source.code.slice(from, to)));
  return {
    parameters,
    args: args === undefined ? argsMembers(source, members) : innerOf(source, args, members),
    whole: undefined,
    taken: takenApart(source.code.slice(start + open + 1, start + close)),
  };
}

function takenApart(code: string): Taken {
  const inner = /(?:^|,)\s*args\s*:\s*\{/.exec(code);
  const open = inner === null ? -1 : inner.index + inner[0].length - 1;
  const close = open < 0 ? -1 : closingOf(code, open);
  return { ...pattern(code), args: close < 0 ? undefined : pattern(code.slice(open + 1, close)) };
}

/** `a, b: c, d = 1, ...rest`. */
function pattern(code: string): Pattern {
  const parts = partsOf(code, ",").map(({ start, end }) => code.slice(start, end));
  const own = parts.filter((part) => !/^\s*\.\.\./.test(part));
  const named = (some: readonly string[]): string[] => some.flatMap((part) => /[\w$]+/.exec(part)?.[0] ?? []);
  const optional = own.filter((part) => outside(part, /^=(?![>=])/) >= 0);
  return { names: named(own), optional: named(optional), rest: own.length < parts.length };
}

/** `name`, `name = usual`, `name: other` of a pattern, with the type that a member of that name has. */
function named({ text, code }: Source, from: number, to: number, members: readonly Parameter[]): Parameter {
  const name = /[\w$]+/.exec(code.slice(from, to))?.[0] ?? "";
  const equals = outside(code.slice(from, to), /^=[^>=]?/);
  const type = members.find((member) => member.name === name)?.type;
  return {
    name,
    ...(type === undefined ? {} : { type }),
    ...(equals < 0 ? {} : { usual: oneLine(text.slice(from + equals + 1, to)) }),
  };
}

function innerOf(
  source: Source,
  [from, to]: readonly [number, number],
  members: readonly Parameter[],
): Parameter[] {
  const open = source.code.indexOf("{", from);
  const close = closingOf(source.code, open);
  if (close < 0 || close > to) return [];
  const types = argsMembers(source, members);
  return partsOf(source.code.slice(open + 1, close), ",").map(({ start, end }) =>
    named(source, open + 1 + start, open + 1 + end, types),
  );
}

/** The members of an object type that is written out, or of one of this file that is named. */
function membersAt(source: Source, from: number, to: number): Parameter[] {
  const code = source.code.slice(from, to);
  const open = /^\s*\{/.exec(code);
  if (open !== null) return membersIn(source, from + open[0].length - 1);
  const name = /^\s*([\w$]+)/.exec(code)?.[1];
  const at = name === undefined ? undefined : typeOpening(source, name);
  return at === undefined ? [] : membersIn(source, at);
}

/** Where the braces of `interface Name { … }` or `type Name = { … }` open. */
function typeOpening({ code }: Source, name: string): number | undefined {
  const own = escaped(name);
  const found = new RegExp(`\\b(?:interface\\s+${own}\\b[^{;]*|type\\s+${own}\\s*=\\s*)\\{`).exec(code);
  return found === null ? undefined : found.index + found[0].length - 1;
}

function membersIn({ text, code }: Source, open: number): Parameter[] {
  const close = closingOf(code, open);
  if (close < 0) return [];
  return partsOf(code.slice(open + 1, close), ";,\n").flatMap(({ start, end }): Parameter[] => {
    const [from, to] = [open + 1 + start, open + 1 + end];
    const member = /^\s*(?:readonly\s+)?([\w$]+)\??\s*:/.exec(code.slice(from, to));
    if (member?.[1] === undefined) return [];
    const says = commentBefore(text, from + (/^\s*/.exec(code.slice(from, to))?.[0].length ?? 0));
    const type = oneLine(text.slice(from + member[0].length, to));
    return [{ name: member[1], type, ...(says === "" ? {} : { says }) }];
  });
}

/** What the type of `args` has. */
function argsMembers(source: Source, members: readonly Parameter[]): Parameter[] {
  const type = members.find(({ name }) => name === "args")?.type;
  if (type === undefined) return [];
  const inner = { text: `${type};\n${source.text}`, code: `${blanked(type, scriptNoise)};\n${source.code}` };
  return membersAt(inner, 0, type.length);
}

/** What the pattern or the type names, else what the body reads. */
function argsOf({ code }: Source, { args, whole }: Argument, bodyAt: number): Parameter[] {
  if (args.length > 0) return [...args];
  const holder = whole === undefined ? "args" : String.raw`${escaped(whole)}\.args`;
  const read = code
    .slice(bodyAt)
    .matchAll(new RegExp(`(?<![\\w$.])${holder}\\??\\.([A-Za-z_$][\\w$]*)`, "g"));
  return [...new Set([...read].flatMap(([, name]) => name ?? []))].map((name) => ({ name }));
}

/** The comment that ends where a statement begins. */
function commentBefore(text: string, at: number): string {
  const found = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(text.slice(0, at))?.[1];
  return found === undefined ? "" : found.replaceAll(/^[ \t]*\*? ?/gm, "").trim();
}

const documented = (parameter: Parameter, doc: string): Parameter => {
  const tag = new RegExp(
    `@param\\s+(?:\\{[^}]*\\}\\s*)?(?:[\\w$]+\\.)*${escaped(parameter.name)}\\s+-?\\s*([^\\n]+)`,
  ).exec(doc)?.[1];
  return tag === undefined ? parameter : { ...parameter, says: tag.trim() };
};

/** The file's own types that a head names, as they are written. */
function typesNamed(source: Source, head: string): string[] {
  const names = [...new Set(head.match(/\b[A-Z][\w$]*/g) ?? [])];
  return names.flatMap((name) => {
    const open = typeOpening(source, name);
    const close = open === undefined ? -1 : closingOf(source.code, open);
    if (open === undefined || close < 0) return [];
    const start =
      source.code.lastIndexOf(
        "\n",
        source.code.slice(0, open).search(new RegExp(`\\b(?:interface|type)\\s+${escaped(name)}\\b[^\\n]*$`)),
      ) + 1;
    return [source.text.slice(start, close + 1).slice(0, 1_500)];
  });
}
