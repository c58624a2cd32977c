/** What a training script of TRL has besides `GRPOConfig(…)`: the trainer's model, rewards and data. Nothing is executed. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Json } from "../../../../shared/lib/json.ts";
import { hubDataset, isHubName } from "../../../lib/datasets/name.ts";
import { isRows } from "../../../lib/datasets/tables.ts";
import type { Range } from "../../../lib/lines.ts";
import { evaluated, type PythonExpression } from "../../text/python/expression.ts";
import { tokensOf, type PythonToken } from "../../../lib/python/tokens.ts";
import { Lines } from "../lines.ts";
import { assignments, callsOf, type Call } from "../pythonReader.ts";
import { trainerOfTree, type TrlTrainer } from "../../releases/programs/trl.ts";
import { isObject } from "../../text/values.ts";
import { rowColumns } from "./rowColumns.ts";
import { loraOf, readScriptModel, type ScriptAdapter } from "./scriptModel.ts";
import { ScriptRewards, type ScriptFiles, type ScriptReward } from "./scriptRewards.ts";

interface ScriptSetting {
  readonly value: Json;
  readonly range: Range;
}

export interface TrlScript {
  /** As `trl grpo` would be given them; `train_dataset` holds files, or `hf://datasets/…`. */
  readonly settings: ReadonlyMap<string, ScriptSetting>;
  /** undefined where the trainer is not called, or its rewards cannot be seen. */
  readonly rewards: readonly ScriptReward[] | undefined;
  /** Where the rewards are listed. */
  readonly rewardsAt: Range | undefined;
  /** What of it is read in part: by setting, why. */
  readonly partly: readonly { readonly key: string; readonly reason: string }[];
  /** What makes the rows that train, where these are not those of a file: what they are only running it shows. */
  readonly rowsBuilder?: RowsBuilder | undefined;
  /** Columns that the script gives these rows, among other words. */
  readonly columns?: readonly string[];
}

/** The statements of a script that make the rows of its trainer. */
export interface RowsBuilder {
  /** The script, absolute. */
  readonly file: string;
  /** What changes the rows or makes them: `.map`, or a function of the script's own. */
  readonly call: string;
  /** The trainer's class. */
  readonly trainer: string;
  /** The place of `train_dataset` among its arguments; -1: it is given by its name alone. */
  readonly position: number;
  /** Where the trainer is given them. */
  readonly range: Range;
}

/**
 * @param tree the trainer's name in TRL's command line: `grpo`
 * @param configuration the file that the terms are written for: paths begin in its folder; default: the script
 */
export function readTrlScript(
  file: string,
  text: string,
  tree: string | undefined,
  configuration = file,
): TrlScript {
  const tokens = tokensOf(text);
  const kind = trainerOfTree(tree);
  const call = kind === undefined ? undefined : callsOf(tokens, kind.trainer).at(-1);
  if (kind === undefined || call === undefined)
    return { settings: new Map(), rewards: undefined, rewardsAt: undefined, partly: [] };
  return new ScriptReader({ file, configuration }, text, tokens, call, kind).read();
}

/** What takes data from files or from the Hub. */
const loaders = ["load_dataset", "from_parquet", "from_json", "load_from_disk"] as const;
/** Methods of a dataset after which its rows, or their columns, are others; and what makes a dataset of rows in memory. */
const rowMethods =
  /^(map|filter|select|take|skip|shard|(rename|remove|select)_columns?|add_column|add_item|(set|with)_transform|from_(list|dict|generator|pandas))$/;

/** Formats that `load_dataset` reads from `data_files`. */
const formats: readonly Json[] = ["parquet", "json", "csv", "arrow", "text"];

class ScriptReader {
  private readonly lines: Lines;
  private readonly names: ReadonlyMap<string, PythonExpression>;
  private readonly given: ReadonlyMap<string, PythonExpression>;
  private readonly settings = new Map<string, ScriptSetting>();
  private rowsBuilder: RowsBuilder | undefined;
  private readonly partly: { key: string; reason: string }[] = [];

  constructor(
    private readonly files: ScriptFiles,
    private readonly text: string,
    private readonly tokens: readonly PythonToken[],
    call: Call,
    private readonly kind: TrlTrainer,
  ) {
    this.lines = new Lines(text);
    this.names = assignments(tokens, call.start);
    this.given = new Map([
      ...call.positional.map((value, i) => [kind.positions[i] ?? "", value] as const),
      ...call.keywords.map(({ name, value }) => [name, value] as const),
    ]);
  }

  read(): TrlScript {
    this.model();
    this.adapter();
    this.data();
    this.template();
    const listed = this.given.get("reward_funcs");
    return {
      settings: this.settings,
      rewards:
        listed === undefined
          ? undefined
          : new ScriptRewards(this.files, this.text, this.tokens, this.names).of(listed),
      rewardsAt: listed === undefined ? undefined : this.lines.range(listed),
      partly: this.partly,
      rowsBuilder: this.rowsBuilder,
      ...(this.rowsBuilder === undefined ? {} : { columns: rowColumns(this.tokens) }),
    };
  }

  private set(key: string, value: Json, at: PythonExpression): void {
    this.settings.set(key, { value, range: this.lines.range(at) });
  }

  private meant(expression: PythonExpression | undefined): PythonExpression | undefined {
    return expression?.kind === "name" ? (this.names.get(expression.name) ?? expression) : expression;
  }

  private known(expression: PythonExpression | undefined): Json | undefined {
    return evaluated(expression, this.names);
  }

  private model(): void {
    const at = this.given.get("model");
    if (at === undefined) return;
    const { base, adapter, lost } = readScriptModel(this.tokens, at, this.names, at.start);
    if (base !== undefined) this.set("model_name_or_path", base, at);
    if (adapter !== undefined) this.adapterOf(adapter, at);
    for (const reason of lost) this.partly.push({ key: "model", reason });
  }

  private adapter(): void {
    const at = this.given.get("peft_config");
    const config = this.meant(at);
    if (at === undefined || this.known(at) === null) return;
    if (config?.kind === "call" && config.callee.endsWith("LoraConfig"))
      this.adapterOf(loraOf(config, this.names), at);
    else
      this.partly.push({
        key: "peft_config",
        reason: "the script makes the adapter by code; write `model.adapter`",
      });
  }

  private adapterOf({ rank, alpha, dropout }: ScriptAdapter, at: PythonExpression): void {
    this.set("use_peft", true, at);
    this.set("lora_r", rank, at);
    this.set("lora_alpha", alpha, at);
    this.set("lora_dropout", dropout, at);
  }

  private data(): void {
    const at = this.given.get("train_dataset");
    if (at === undefined) return;
    const load = this.loadOf(at);
    const found = load === undefined ? undefined : this.filesOf(load);
    if (load === undefined || found === undefined) {
      this.builtBy(this.changesOf(at), at);
      return;
    }
    this.set("train_dataset", found, at);
    const partly = (reason: string): void => void this.partly.push({ key: "train_dataset", reason });
    const split = this.known(load.keywords.find(({ name }) => name === "split")?.value);
    if (typeof split === "string" && split.includes("["))
      partly(`the script takes \`${split}\` of the data, and Gradus reads all of it`);
    const changes = this.changesOf(at);
    if (changes === undefined) return;
    this.builtBy(changes, at);
    partly(`the script changes the rows (\`${changes}\`) before it trains; Gradus reads the file as it is`);
  }

  private builtBy(call: string | undefined, at: PythonExpression): void {
    if (call === undefined) return;
    const { trainer, positions } = this.kind;
    const position = positions.indexOf("train_dataset");
    this.rowsBuilder = {
      file: resolve(this.files.file),
      call,
      trainer,
      position,
      range: this.lines.range(at),
    };
  }

  /** What makes other rows of those that are loaded: a function of the script's own, or a method of the dataset. */
  private changesOf(at: PythonExpression): string | undefined {
    const maker = at.kind === "call" ? at.callee : this.makerOf(at.kind === "name" ? at.name : "");
    if (maker !== undefined && /^\w+$/.test(maker) && !/^(load_|from_)/.test(maker)) return maker;
    const method = this.tokens.find(
      ({ text }, i) =>
        rowMethods.test(text) && this.tokens[i - 1]?.text === "." && this.tokens[i + 1]?.text === "(",
    );
    return method === undefined ? undefined : `.${method.text}`;
  }

  /** The function of the script's own that a name was assigned last: `data = prepare(data)`. */
  private makerOf(name: string): string | undefined {
    const at = this.tokens.findLastIndex(
      ({ kind }, i) =>
        kind === "line" &&
        this.tokens[i + 1]?.text === name &&
        this.tokens[i + 2]?.text === "=" &&
        this.tokens[i + 4]?.text === "(",
    );
    return at < 0 ? undefined : this.tokens[at + 3]?.text;
  }

  /** The reward gets the same rows, and the policy reads them otherwise. */
  private template(): void {
    const set = this.tokens.find(
      ({ text }, i) =>
        text === "chat_template" && this.tokens[i - 1]?.text === "." && this.tokens[i + 1]?.text === "=",
    );
    if (set !== undefined)
      this.partly.push({
        key: "processing_class",
        reason: "the script sets a chat template, and Gradus writes prompts with the model's own",
      });
  }

  /** The call that the data comes from: the one that the argument's name is assigned, else the only one of the script. */
  private loadOf(at: PythonExpression): Call | undefined {
    const loads = loaders
      .flatMap((name) => callsOf(this.tokens, name))
      .sort((one, other) => one.start - other.start);
    const within = loads.filter(({ start, end }) => at.start <= start && end <= at.end);
    const [first] = this.tokens.filter(({ start }) => start >= at.start);
    const assigned = loads.filter(({ start }) => this.assigned(start) === first?.text);
    return within.at(-1) ?? assigned.at(-1) ?? (loads.length === 1 ? loads[0] : undefined);
  }

  /** The name that the statement around an offset assigns. */
  private assigned(offset: number): string | undefined {
    const line = this.tokens.findLastIndex(({ kind, start }) => kind === "line" && start <= offset);
    const [name, equals] = [this.tokens[line + 1], this.tokens[line + 2]];
    return name?.kind === "name" && equals?.text === "=" ? name.text : undefined;
  }

  private filesOf(load: Call): Json | undefined {
    const of = (key: string): Json | undefined =>
      this.known(load.keywords.find(({ name }) => name === key)?.value);
    const first = this.known(load.positional[0]) ?? of("path") ?? of("path_or_paths");
    const files = of("data_files") ?? of("data_dir");
    if (files !== undefined && (formats.includes(first ?? null) || first === undefined))
      return here(trained(files));
    if (typeof first === "string" && load.callee.endsWith("load_dataset") && this.isOfHub(first))
      return this.ofHub(load, first, files);
    return typeof first === "string" || Array.isArray(first) ? first : undefined;
  }

  /** What is there is a folder, as for `load_dataset`. */
  private isOfHub(name: string): boolean {
    return isHubName(name) && !isRows(name) && !existsSync(resolve(dirname(this.files.file), name));
  }

  /** `load_dataset("org/name", "config", split="train", revision="v1")`. */
  private ofHub(load: Call, repo: string, files: Json | undefined): Json {
    const text = (key: string, place?: number): string | undefined => {
      const keyword = load.keywords.find(({ name }) => name === key)?.value;
      const value = this.known(keyword ?? (place === undefined ? undefined : load.positional[place]));
      return typeof value === "string" ? value : undefined;
    };
    const revision = text("revision");
    const parts =
      files === undefined
        ? (text("split") ?? "train").split("+").map((split) => [text("name", 1), splitName(split)])
        : [trained(files)].flat().map((file) => [String(file)]);
    const names = parts.map((path) => hubDataset(repo, { revision, path }));
    return names.length === 1 ? (names[0] ?? null) : names;
  }
}

/** Of `test[:64]` the split; `train` is what a name without a split means. */
function splitName(split: string): string | undefined {
  const name = split.replace(/\[.*$/, "").trim();
  return name === "train" ? undefined : name;
}

/** What only files can be, as no name of the Hub. */
const here = (files: Json): Json => {
  if (Array.isArray(files)) return files.map(here);
  return typeof files === "string" && isHubName(files) && !isRows(files) ? `./${files}` : files;
};

/** `{"train": …, "test": …}` are its training files. */
const trained = (files: Json): Json =>
  isObject(files) ? (files["train"] ?? Object.values(files)[0] ?? null) : files;
