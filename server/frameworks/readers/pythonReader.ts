/** `GRPOConfig(…)`, or the config of another TRL trainer, in a Python file: its keywords as settings. */
import type { Json } from "../../../shared/lib/json.ts";
import type { Setting } from "../text/document.ts";
import { evaluated, ExpressionReader, type PythonExpression } from "../text/python/expression.ts";
import { ownNames } from "../text/python/ownNames.ts";
import { tokensOf, type PythonToken } from "../../lib/python/tokens.ts";
import type { CodeSpan } from "../text/shell/traced.ts";
import { rewarded, trainers, type TrlTrainer } from "../releases/programs/trl.ts";
import { Lines } from "./lines.ts";
import type { ParsedConfig } from "./parsedConfig.ts";

export type Call = Extract<PythonExpression, { readonly kind: "call" }>;

export function readPython(_file: string, text: string): ParsedConfig | undefined {
  if (!/(GRPO|RLOO|DPO|SFT|KTO|Reward|Distillation)Config\(|(GRPO|RLOO)Config\b/.test(text)) return undefined;
  const tokens = tokensOf(text);
  const lines = new Lines(text);
  // Other libraries have classes of these names, and projects their own.
  const own = ownNames(tokens);
  const trl = /^\s*(from|import)\s+trl\b/m.test(text);
  // A piece of a file may lack its imports; one with `import *` may use any class of that name.
  const piece = !/^\s*from\s+\S+\s+import\s+\*/m.test(text);
  const named = trainers.filter(
    ({ name, config }) => (trl || (piece && rewarded.includes(name))) && !own.has(config),
  );
  const calls = named.flatMap((trainer) =>
    callsOf(tokens, trainer.config).map((call) => ({ trainer, call })),
  );
  const found =
    configOfLastTrainer(tokens, named, calls) ?? calls.sort((a, b) => a.call.start - b.call.start).at(-1);
  if (found === undefined) return commanded(tokens, lines, named);
  const { trainer, call } = found;
  const names = assignments(tokens, call.start);
  const reader = new CallReader(text, lines, names);
  const { settings, incomplete } = reader.read(call);
  const patched = /^\s*(from|import)\s+unsloth\b/m.test(text) ? "unsloth" : undefined;
  return {
    framework: "trl",
    form: "python",
    tree: trainer.name,
    settings,
    base: new Map<string, Json>(),
    unset: [],
    patched,
    incomplete: incomplete || patched !== undefined,
    head: lines.range({ start: call.start, end: call.start + call.callee.length }),
  };
}

const parsers = ["TrlParser", "HfArgumentParser"] as const;

/** A script that gets its settings from its command line, `TrlParser((ScriptArguments, GRPOConfig))`: none of them is known. */
function commanded(
  tokens: readonly PythonToken[],
  lines: Lines,
  named: readonly TrlTrainer[],
): ParsedConfig | undefined {
  const parser = parsers.flatMap((name) => callsOf(tokens, name)).at(-1);
  if (parser === undefined) return undefined;
  const isParsed = ({ config }: TrlTrainer): boolean =>
    tokens.some(({ text, start }) => text === config && start > parser.start && start < parser.end);
  const trainer = named.find(
    (one) => rewarded.includes(one.name) && isParsed(one) && callsOf(tokens, one.trainer).length > 0,
  );
  if (trainer === undefined) return undefined;
  return {
    framework: "trl",
    form: "python",
    tree: trainer.name,
    settings: [],
    base: new Map<string, Json>(),
    unset: [],
    commanded: true,
    incomplete: true,
    head: lines.range({ start: parser.start, end: parser.start + parser.callee.length }),
  };
}

interface ConfigCall {
  readonly trainer: TrlTrainer;
  readonly call: Call;
}

/**
 * The one that the last trainer of the file gets as `args`. If that is unknown, the last one counts, as the last
 * command of a script does; the others are as often examples.
 */
function configOfLastTrainer(
  tokens: readonly PythonToken[],
  named: readonly TrlTrainer[],
  calls: readonly ConfigCall[],
): ConfigCall | undefined {
  const used = named
    .flatMap(({ trainer }) => callsOf(tokens, trainer))
    .sort((a, b) => a.start - b.start)
    .at(-1);
  const args = used?.keywords.find(({ name }) => name === "args")?.value;
  if (used === undefined || args === undefined) return undefined;
  const meant = args.kind === "name" ? assignments(tokens, used.start).get(args.name) : args;
  return calls.find(({ call }) => call.end === meant?.end);
}

/** Calls of a class, under whatever module it was imported by; not its definition. */
export function callsOf(tokens: readonly PythonToken[], name: string): Call[] {
  return tokens.flatMap((token, i) => {
    const opens = token.kind === "name" && token.text === name && tokens[i + 1]?.text === "(";
    if (!opens || ["class", "def"].includes(tokens[i - 1]?.text ?? "")) return [];
    const call = new ExpressionReader(tokens, i).expression();
    return call.kind === "call" ? [call] : openCall(tokens, i);
  });
}

/** An unclosed call, or one inside a larger expression: only the call itself. */
function openCall(tokens: readonly PythonToken[], at: number): Call[] {
  let depth = 0;
  let end = at + 1;
  for (; end < tokens.length; end++) {
    const { kind, text } = tokens[end]!;
    if (kind !== "operator") continue;
    if ("([{".includes(text)) depth += 1;
    else if (")]}".includes(text) && --depth === 0) break;
  }
  const call = new ExpressionReader(tokens.slice(at, end + 1)).expression();
  return call.kind === "call" ? [call] : [];
}

/** Names that hold one value all along: assigned once, at the beginning of a statement before `end`. */
export function assignments(tokens: readonly PythonToken[], end: number): Map<string, PythonExpression> {
  const found = new Map<string, PythonExpression>();
  const twice = new Set<string>();
  for (const [i, token] of tokens.entries()) {
    const start = token.kind === "name" && (tokens[i - 1]?.kind === "line" || tokens[i - 1]?.text === ";");
    if (!start || token.start > end) continue;
    if (isChanged(tokens, i)) twice.add(token.text);
    const assigned = assignedAt(tokens, i);
    if (assigned === undefined) continue;
    if (found.has(token.text)) twice.add(token.text);
    found.set(token.text, new ExpressionReader(tokens, assigned).expression());
  }
  for (const name of twice) found.delete(name);
  return found;
}

const changers = /^(append|extend|insert|pop|remove|update|setdefault|clear)$/;

/** `name.append(…)`, `name += …` and `name[…] = …`: the assigned value is not complete. */
function isChanged(tokens: readonly PythonToken[], at: number): boolean {
  const [next, word, open] = [tokens[at + 1], tokens[at + 2], tokens[at + 3]];
  if (next?.kind !== "operator") return false;
  if (next.text === ".") return changers.test(word?.text ?? "") && open?.text === "(";
  if (/^[-+*|]=$/.test(next.text)) return true;
  if (next.text !== "[") return false;
  const close = tokens.findIndex(({ kind, text }, i) => i > at && (kind === "line" || text === "]"));
  return tokens[close]?.text === "]" && tokens[close + 1]?.text === "=";
}

/** `name =` and `name: type =`: the index of what is assigned. */
function assignedAt(tokens: readonly PythonToken[], at: number): number | undefined {
  const next = tokens[at + 1];
  if (next?.kind !== "operator") return undefined;
  if (next.text === "=") return at + 2;
  if (next.text !== ":") return undefined;
  const equals = tokens.findIndex(({ kind, text }, i) => i > at && (kind === "line" || text === "="));
  return tokens[equals]?.text === "=" ? equals + 1 : undefined;
}

class CallReader {
  constructor(
    private readonly text: string,
    private readonly lines: Lines,
    private readonly names: ReadonlyMap<string, PythonExpression>,
  ) {}

  read(call: Call): { settings: Setting[]; incomplete: boolean } {
    const spreads = call.spreads.map((spread) => this.spread(spread));
    return {
      settings: [
        ...spreads.flatMap(({ settings }) => settings),
        ...call.keywords.map(({ name, nameSpan, value }) => this.setting(name, nameSpan, value)),
      ],
      incomplete: spreads.some(({ incomplete }) => incomplete) || call.positional.length > 1,
    };
  }

  /** `**{…}`, `**options` and `**dict(…)`. */
  private spread(spread: PythonExpression): { settings: Setting[]; incomplete: boolean } {
    const meant = spread.kind === "name" ? this.names.get(spread.name) : spread;
    if (meant?.kind === "call" && meant.callee === "dict") return this.read(meant);
    if (meant?.kind !== "dict") return { settings: [], incomplete: true };
    const inner = meant.spreads.map((other) => this.spread(other));
    const own = meant.entries.flatMap(({ key, value }) => {
      const name = evaluated(key, this.names);
      const inside = { start: key.start + 1, end: key.end - 1 };
      return typeof name === "string" ? [this.setting(name, inside, value)] : [];
    });
    return {
      settings: [...inner.flatMap(({ settings }) => settings), ...own],
      incomplete: own.length < meant.entries.length || inner.some(({ incomplete }) => incomplete),
    };
  }

  private setting(key: string, keySpan: CodeSpan, value: PythonExpression): Setting {
    const source = value.kind === "name" ? this.names.get(value.name) : undefined;
    const known = evaluated(value, this.names);
    return {
      key,
      value: known,
      text: this.text.slice(value.start, value.end),
      keyRange: this.lines.range(keySpan),
      range: this.lines.range(value),
      ...(source === undefined || known === undefined ? {} : { source: this.lines.range(source) }),
      sign: "",
    };
  }
}
