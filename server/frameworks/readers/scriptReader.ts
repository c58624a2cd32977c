/** A launch script or a bare list of overrides or flags: the settings of the last command that trains. */
import { dirname, join, resolve } from "node:path";
import type { Json } from "../../../shared/lib/json.ts";
import type { Setting, Sign, UnsetVariable } from "../text/document.ts";
import { wordsWithin, type LaunchWord } from "../text/shell/launchWord.ts";
import { readScript, type Script } from "../text/shell/script.ts";
import { isComputed, placeOf, type CodeSpan } from "../text/shell/traced.ts";
import { editDistance } from "../../lib/suggest.ts";
import { isObject, valueOf } from "../text/values.ts";
import { sftTreeOf, verlTreeOf } from "../releases/programs/verl.ts";
import { baseOfName, treeOfEngine, treeOnDisk } from "./base.ts";
import { cutByReturn, cutLaunch, loose } from "./cutLaunch.ts";
import { Lines } from "./lines.ts";
import { evidentOwner } from "./evidence.ts";
import { holdsCommand, programOf, type LaunchProgram, type ScriptLookup } from "./recognise.ts";
import { scriptsNear } from "./scriptsNear.ts";
import { spreadOut, type OwnerOf, type ParsedConfig } from "./parsedConfig.ts";

/** What bash or a login sets. */
const ownVariables: ReadonlySet<string> = new Set(
  "BASHPID BASH_SOURCE EUID HOSTNAME LINENO LOGNAME OLDPWD OSTYPE PATH PPID PWD RANDOM SECONDS SHELL UID USER".split(
    " ",
  ),
);
const override = /^([+~]{0,2})([A-Za-z_][\w./-]*(?:@[\w./-]*)?)(?:=([\s\S]*))?$/;
const flag = /^--([A-Za-z][\w.-]*)(?:=([\s\S]*))?$/;

/** @param owner determines the framework by the keys: then any program's settings count */
export function readLaunch(file: string, text: string, owner?: OwnerOf): ParsedConfig | undefined {
  const script = readScript(text);
  const lookup = scriptsNear(file);
  const found = withLooseSettingsJoined(script.launches.map(({ words }) => words))
    .flatMap((words) => [words, ...words.filter(({ text }) => holdsCommand(text)).map(wordsWithin)])
    .flatMap((words) => {
      const program =
        owner === undefined
          ? (programOf(textsOf(words), lookup) ?? programOfLooseSettings(words))
          : programOfOwner(words, owner, lookup);
      return program === undefined ? [] : [{ words, program }];
    })
    .at(-1);
  return found === undefined
    ? undefined
    : new LaunchReader(file, text, script).read(found.words, found.program);
}

/** Settings on separate lines, without a program, are one launch. */
function withLooseSettingsJoined(launches: readonly (readonly LaunchWord[])[]): (readonly LaunchWord[])[] {
  const alone = launches.filter(([first]) => first !== undefined && loose.test(first.text));
  if (alone.length === 0) return [...launches];
  return [alone.flat(), ...launches.filter((words) => !alone.includes(words))];
}

/** An unknown program: all its settings are read. */
function programOfOwner(
  words: readonly LaunchWord[],
  owner: OwnerOf,
  lookup: ScriptLookup,
): LaunchProgram | undefined {
  const texts = textsOf(words);
  const overrides = texts.flatMap((word) => overriddenBy(word) ?? []);
  const flags = texts.flatMap((word) => flag.exec(word)?.[1] ?? []);
  const framework = owner([...overrides, ...flags], "script");
  const known = programOf(texts, lookup);
  if (framework === undefined || known?.framework === framework) return known;
  const settings = framework === "verl" ? overrides : flags;
  return settings.length > 0 ? { framework, name: "", at: -1 } : undefined;
}

/** A list without a program: of verl by its keys, of OpenRLHF by its dotted flags. */
function programOfLooseSettings(words: readonly LaunchWord[]): LaunchProgram | undefined {
  const texts = textsOf(words);
  if (!loose.test(texts[0] ?? "")) return undefined;
  const keys = texts.flatMap((word) => overriddenBy(word) ?? flag.exec(word)?.[1] ?? []);
  const framework = evidentOwner(keys, "script");
  if (framework === "verl") return { framework, name: "", at: -1 };
  return framework === "openrlhf" ? { framework, name: "", at: -1, tree: "train_ppo_ray" } : undefined;
}

const overriddenBy = (word: string): string | undefined => {
  const [, , key, value] = (word.startsWith("--") ? null : override.exec(word)) ?? [];
  return value === undefined ? undefined : key;
};

const textsOf = (words: readonly LaunchWord[]): string[] => words.map((word) => word.text);

/** What is known of a value. */
type ValueReading = Pick<Setting, "value" | "partial" | "text" | "range" | "source">;

class LaunchReader {
  private readonly lines: Lines;

  constructor(
    private readonly file: string,
    private readonly text: string,
    private readonly script: Script,
  ) {
    this.lines = new Lines(text);
  }

  read(words: readonly LaunchWord[], program: LaunchProgram): ParsedConfig {
    const rest = words.slice(program.at + 1);
    const head = words[Math.max(program.at, 0)]!.span;
    // A word that the launcher's option does not take is the next word of its command.
    const options = this.flags(words.slice(0, Math.max(program.at, 0)), 1);
    const line = this.lines.range(head).start.line;
    const cut = program.at < 0 ? undefined : cutLaunch(this.text, this.script.launches, line);
    const read = program.framework === "verl" ? this.hydra(rest, program) : this.commandLine(rest, program);
    return {
      framework: program.framework,
      form: "script",
      ...(program.tree === undefined ? {} : { tree: program.tree }),
      program: program.name === "" ? undefined : program.name,
      ...read,
      // Settings that were cut off do not get their defaults.
      incomplete: read.incomplete || cut !== undefined,
      cut: cut ?? (program.at < 0 ? undefined : cutByReturn(this.text, words)),
      processes: processesOf(options),
      unset: this.unset(words),
      uncertain: this.uncertain(program),
      head: this.lines.range(head),
    };
  }

  private hydra(
    words: readonly LaunchWord[],
    program: LaunchProgram,
  ): Pick<ParsedConfig, "settings" | "base" | "tree" | "incomplete" | "missing"> {
    const settings = words.flatMap((word) => this.override(word) ?? []);
    const named = this.flags(words);
    const text = (key: string): string | undefined => {
      const value = named.find((one) => one.key === key)?.value;
      return typeof value === "string" ? value : undefined;
    };
    const name = text("config-name") ?? verlTreeOf(program.name) ?? "ppo_trainer";
    const folder = resolve(dirname(this.file), text("config-path") ?? ".");
    const { base, tree, incomplete, missing } = baseOfName(folder, name);
    const engine = settings.find(({ key }) =>
      /^(model_engine|actor@actor_rollout_ref\.actor|engine)$/.test(key),
    )?.value;
    // Other folders of configs, and other parts of the tree than the tables have.
    const regrouped = settings.some(
      ({ key }) => key === "hydra.searchpath" || /^[\w.]+@(?!actor_rollout_ref\.actor$)/.test(key),
    );
    return {
      settings,
      base,
      tree: typeof engine === "string" ? treeWith(tree, engine.replace(/_actor$/, "")) : tree,
      // Another project's program adds its own keys to verl's tree.
      incomplete: incomplete || regrouped || (program.name !== "" && verlTreeOf(program.name) === undefined),
      missing,
    };
  }

  private override(word: LaunchWord): Setting[] | undefined {
    const match = word.text.startsWith("--") ? null : override.exec(word.text);
    if (match === null) return undefined;
    const [, sign = "", key = "", value] = match;
    if (!isSign(sign) || (value === undefined && sign !== "~")) return undefined;
    const keyRange = this.lines.range(placeOf(word, sign.length, sign.length + key.length).span);
    if (value === undefined) return [{ key, value: undefined, text: "", keyRange, range: keyRange, sign }];
    const written = this.value(word, sign.length + key.length + 1);
    return spreadOut({ key, keyRange, sign, ...written });
  }

  /** The value in a word from letter `from` on. */
  private value(word: LaunchWord, from: number): ValueReading {
    const depth = word.trail.length;
    const { text, offsets, trails } = word;
    const before = from === 0 ? word.span.start : endOfLetter(word, from - 1, depth);
    const last = text.length > from ? endOfLetter(word, text.length - 1, depth) : before;
    const span = this.quoted(from === 0 ? word.span : { start: before, end: last }, from === 0);
    const known =
      !offsets.slice(from).some((offset, i) => this.hides(offset, trails[from + i]!)) &&
      (text.length > from || !this.hidesIn(span));
    const source = this.source(word, from);
    const value = valueOf(text.slice(from));
    return {
      ...(known ? { value } : { value: undefined, partial: value }),
      text: this.text.slice(span.start, span.end),
      range: this.lines.range(span),
      ...(source === undefined ? {} : { source: this.lines.range(source) }),
    };
  }

  /** Extends a span that stops before its closing quote. */
  private quoted({ start, end }: CodeSpan, whole: boolean): CodeSpan {
    const mark = this.text[start];
    if (whole || (mark !== '"' && mark !== "'")) return { start, end };
    if (end === start) return { start, end: this.text[start + 1] === mark ? start + 2 : end };
    return { start, end: this.text[end] === mark && this.text[end - 1] !== mark ? end + 1 : end };
  }

  private hides(offset: number, trail: readonly CodeSpan[]): boolean {
    return isComputed(offset, trail) && this.script.unknown.has(offset);
  }

  private hidesIn({ start, end }: CodeSpan): boolean {
    return [...this.script.unknown].some((at) => at >= start && at < end);
  }

  /** The span of the value's letters, if one variable holds all of them. */
  private source({ text, offsets, trails, trail }: LaunchWord, from: number): CodeSpan | undefined {
    if (text.length <= from) return undefined;
    const [depth, first] = [trail.length, trails[from]!];
    const deep = trails.slice(from).every((other) => other.length > depth && other[depth] === first[depth]);
    const last = text.length - 1;
    const [start, end] = [offsets[from]!, offsets[last]! + 1];
    const written =
      deep && start >= 0 && !isComputed(start, first) && !isComputed(offsets[last]!, trails[last]!);
    return written && end - start === text.length - from ? { start, end } : undefined;
  }

  private commandLine(
    words: readonly LaunchWord[],
    program: LaunchProgram,
  ): Pick<ParsedConfig, "settings" | "base" | "incomplete"> {
    // Transformers accepts a flag with dashes too.
    const written = this.flags(words);
    const flags =
      program.framework === "trl"
        ? written.map((one) => ({ ...one, key: one.key.replaceAll("-", "_") }))
        : written;
    const config = flags.find(({ key }) => key === "config")?.value;
    if (program.framework !== "trl" || config === undefined)
      return { settings: flags, base: new Map(), incomplete: program.name.endsWith(".py") };
    const tree = typeof config === "string" ? treeOnDisk(join(dirname(this.file), config)) : undefined;
    const base = new Map(isObject(tree) ? Object.entries(tree) : []);
    return { settings: flags.filter(({ key }) => key !== "config"), base, incomplete: !isObject(tree) };
  }

  /** `--key value…`, `--key=value` and `--switch`. */
  private flags(words: readonly LaunchWord[], most = Number.POSITIVE_INFINITY): Setting[] {
    const found: Setting[] = [];
    for (let at = 0; at < words.length; at++) {
      const word = words[at]!;
      const match = flag.exec(word.text);
      if (match === null) continue;
      const [, key = "", value] = match;
      const keyRange = this.lines.range(placeOf(word, 2, 2 + key.length).span);
      if (value !== undefined) {
        found.push({ key, keyRange, sign: "", words: 1, ...this.value(word, 3 + key.length) });
        continue;
      }
      const values: LaunchWord[] = [];
      while (values.length < most && at + 1 < words.length && !/^-{1,2}[A-Za-z]/.test(words[at + 1]!.text))
        values.push(words[++at]!);
      // The script's own arguments, at the end of its last command, are no value of its last flag.
      const own = values.filter((word) => !this.isArguments(word));
      const reading = this.values(own.length > 0 ? own : values, keyRange);
      // `"$@"` may be none or many.
      const known = reading.value !== undefined && !values.some((word) => this.maySpread(word));
      const counted = known ? { words: values.length } : {};
      found.push({ key, keyRange, sign: "", ...counted, ...reading });
    }
    return found;
  }

  private isArguments({ span }: LaunchWord): boolean {
    return /^"?\$(?:[@*]|\{[@*]\})"?$/.test(this.text.slice(span.start, span.end));
  }

  private maySpread({ text, span }: LaunchWord): boolean {
    return (
      /\$[\w@*{(]/.test(text) ||
      /\$(?:[@*\d]|\{[@*\d]|\{\w+\[[@*])/.test(this.text.slice(span.start, span.end))
    );
  }

  private values(words: readonly LaunchWord[], keyRange: Setting["range"]): ValueReading {
    const [first] = words;
    if (first === undefined) return { value: true, text: "", range: keyRange };
    const parts = words.map((word) => this.value(word, 0));
    if (parts.length === 1) return parts[0]!;
    const known = parts.every(({ value }) => value !== undefined);
    const all = parts.map(({ value, partial }): Json => value ?? partial ?? null);
    const span = { start: first.span.start, end: words.at(-1)!.span.end };
    return {
      ...(known ? { value: all } : { value: undefined, partial: all }),
      text: this.text.slice(span.start, span.end),
      range: this.lines.range(span),
    };
  }

  private uncertain({ framework }: LaunchProgram): ReadonlySet<string> {
    const key =
      framework === "verl" ? /(?<![\w.])([A-Za-z_][\w.]*\.\w+)=/g : /(?<![\w-])--([A-Za-z][\w.-]*)/g;
    const keys = this.undecided().flatMap((text) => [...text.matchAll(key)].map(([, name = ""]) => name));
    return new Set(framework === "trl" ? keys.map((name) => name.replaceAll("-", "_")) : keys);
  }

  private undecided(): string[] {
    return this.script.undecided.map(({ start, end }) => this.text.slice(start, end));
  }

  /** Those that the command itself reads. */
  private unset(words: readonly LaunchWord[]): UnsetVariable[] {
    const text = words.map((word) => word.text).join(" ");
    const maybe = this.undecided().join("\n");
    const isSet = (name: string): boolean =>
      this.script.set.includes(name) ||
      ownVariables.has(name) ||
      new RegExp(`(^|[\\s;])${name}=`).test(maybe);
    return [...this.script.unset]
      .filter(([name]) => text.includes(`$${name}`) && !isSet(name))
      .map(([name, span]) => {
        const meant = this.script.set.find(
          (other) => editDistance(name, other) <= (name.length < 5 ? 0 : name.length < 9 ? 1 : 2),
        );
        return { name, range: this.lines.range(span), ...(meant === undefined ? {} : { meant }) };
      });
  }
}

const treeWith = (tree: string | undefined, engine: string): string =>
  tree?.startsWith("sft_trainer") === true ? sftTreeOf(engine) : treeOfEngine(engine);

/** How many processes a launcher starts: accelerate counts all, torchrun and DeepSpeed those of one machine. */
function processesOf(options: readonly Setting[]): Setting | undefined {
  const all = options.find(({ key }) => /^num[_-]processes$/.test(key));
  const each = options.find(({ key }) => /^(nproc[_-]per[_-]node|num[_-]gpus)$/.test(key));
  const machines = options.find(({ key }) => /^(nnodes|num[_-]nodes)$/.test(key));
  if (all !== undefined || each === undefined || machines === undefined) return all ?? each;
  const known = typeof each.value === "number" && typeof machines.value === "number";
  return { ...each, value: known ? Number(each.value) * Number(machines.value) : undefined };
}

const isSign = (sign: string): sign is Sign => ["", "+", "++", "~"].includes(sign);

const endOfLetter = ({ offsets, trails }: LaunchWord, i: number, depth: number): number =>
  trails[i]![depth]?.end ?? offsets[i]! + 1;
