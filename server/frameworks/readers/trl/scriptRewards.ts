/** The rewards that a script hands to TRL's trainer, each as what a reward term can name. */
import { basename, dirname, join, resolve } from "node:path";
import type { Json, JsonObject } from "../../../../shared/lib/json.ts";
import { pythonNames } from "../../../config/check/pythonNames.ts";
import { parsed } from "../../text/python/functions.ts";
import { evaluated, type PythonExpression } from "../../text/python/expression.ts";
import type { PythonToken } from "../../../lib/python/tokens.ts";
import { smallText } from "../../text/fileReader.ts";
import { relativePath } from "../../../../shared/lib/slashes.ts";

export type ScriptReward = { readonly name: string } & (
  | {
      readonly kind: "function";
      /** `./train.py:correct` */
      readonly use: string;
      readonly args?: JsonObject;
      /** Columns of the data that it reads, as far as its text shows. */
      readonly columns?: readonly string[];
      /** TRL's own function, which the script imports. */
      readonly shipped?: string;
    }
  /** TRL's own, made where it is listed: with its arguments. */
  | { readonly kind: "made"; readonly shipped: string; readonly args: JsonObject }
  | { readonly kind: "lost"; readonly reason: string }
);

export interface ScriptFiles {
  readonly file: string;
  /** Paths of terms begin in its folder. */
  readonly configuration: string;
}

type Call = Extract<PythonExpression, { readonly kind: "call" }>;

export class ScriptRewards {
  private readonly file: string;
  /** The script's, from that of the configuration: `.`, `./src`. */
  private readonly folder: string;
  private readonly own: ReadonlySet<string>;
  /** Names that are imported from TRL, with the name that they have there. */
  private readonly trl: ReadonlyMap<string, string>;

  constructor(
    { file, configuration }: ScriptFiles,
    private readonly text: string,
    tokens: readonly PythonToken[],
    private readonly names: ReadonlyMap<string, PythonExpression>,
  ) {
    this.file = file;
    const folder = relativePath(dirname(resolve(configuration)), dirname(resolve(file)));
    this.folder = folder === "" ? "." : folder.startsWith(".") ? folder : `./${folder}`;
    this.own = new Set(pythonNames(text).names);
    this.trl = importedFromTrl(tokens);
  }

  /** undefined where the list is assembled elsewhere. */
  of(listed: PythonExpression): readonly ScriptReward[] | undefined {
    const meant = listed.kind === "name" ? (this.names.get(listed.name) ?? listed) : listed;
    if (meant.kind === "list") return distinct(meant.items.map((item) => this.reward(item)));
    const single =
      meant.kind === "value" ||
      (listed.kind === "name" && this.own.has(listed.name) && meant.kind !== "unknown");
    return single ? [this.reward(listed)] : undefined;
  }

  private reward(item: PythonExpression): ScriptReward {
    switch (item.kind) {
      case "name":
        return this.named(item.name);
      case "value":
        return {
          kind: "lost",
          name: String(item.value).split("/").at(-1) ?? "reward",
          reason: "a reward model, and this version has no reward-model term",
        };
      case "call":
        return this.made(item);
      default:
        return lost("reward", "it is made where it is listed: give it a name at the top of the script");
    }
  }

  private named(dotted: string): ScriptReward {
    const [first = "", ...rest] = dotted.split(".");
    const name = rest.at(-1) ?? first;
    if (/^trl\.rewards\.\w+$/.test(dotted)) return this.function(dotted, name, name);
    if (rest.length > 0) return this.ofModule(dotted);
    const shipped = this.trl.get(first);
    if (shipped !== undefined) return this.function(first, first, shipped);
    const value = this.names.get(first);
    if (value?.kind === "call") {
      const made = this.made(value, first);
      if (made.kind === "made") return made;
    }
    return this.own.has(first)
      ? this.function(first, first)
      : lost(name, `${basename(this.file)} has no \`${first}\` at its top: move it there`);
  }

  private function(path: string, name: string, shipped?: string): ScriptReward {
    // `trl.rewards.accuracy_reward` is no name of the script, and still TRL's own.
    if (shipped !== undefined && path.includes(".")) return { kind: "made", name, shipped, args: {} };
    const use = `${this.folder}/${basename(this.file)}:${path}`;
    // trl/rewards/accuracy_rewards.py: both compare with this column.
    const columns = /accuracy_reward$/.test(shipped ?? "") ? ["solution"] : columnsOf(this.text, path);
    return {
      kind: "function",
      name,
      use,
      ...(columns.length === 0 ? {} : { columns }),
      ...(shipped === undefined ? {} : { shipped }),
    };
  }

  /** `import rewards` next to the script, and `rewards.correct`. */
  private ofModule(dotted: string): ScriptReward {
    const parts = dotted.split(".");
    const [path, name = ""] = [`${parts.slice(0, -1).join("/")}.py`, parts.at(-1)];
    return smallText(join(dirname(resolve(this.file)), path)) === undefined
      ? lost(name, `the module of \`${dotted}\` does not lie next to ${basename(this.file)}`)
      : { kind: "function", name, use: `${this.folder}/${path}:${name}` };
  }

  /** `partial(f, scale=2)`, or one of TRL's makers. */
  private made(call: Call, name?: string): ScriptReward {
    const maker = this.trl.get(call.callee) ?? /^trl\.rewards\.(\w+)$/.exec(call.callee)?.[1];
    const args = this.keywords(call);
    if (maker !== undefined)
      return args === undefined
        ? lost(name ?? maker, "its arguments are computed while the script runs")
        : { kind: "made", name: name ?? maker, shipped: maker, args: this.placed(call, args) };
    const [of] = call.positional;
    if (!/^(functools\.)?partial$/.test(call.callee) || of?.kind !== "name" || call.positional.length > 1)
      return lost(
        name ?? call.callee,
        "it is made where it is listed: give it a name at the top of the script",
      );
    const inner = this.named(of.name);
    if (inner.kind !== "function" || args === undefined) return inner;
    return { ...inner, args: { ...inner.args, ...args } };
  }

  private keywords(call: Call): JsonObject | undefined {
    const entries = call.keywords.map(({ name, value }) => [name, evaluated(value, this.names)] as const);
    if (call.spreads.length > 0 || entries.some(([, value]) => value === undefined)) return undefined;
    return Object.fromEntries(
      entries.flatMap(([name, value]): [string, Json][] => (value === undefined ? [] : [[name, value]])),
    );
  }

  /** Arguments by place, as `get_soft_overlong_punishment(1280, 256)`. */
  private placed(call: Call, args: JsonObject): JsonObject {
    const values = call.positional.map((value) => evaluated(value, this.names) ?? null);
    return { ...Object.fromEntries(values.map((value, i) => [String(i), value])), ...args };
  }
}

/** What TRL hands to every reward. */
const given =
  /^(self|prompts|completions|completion_ids|prompt_ids|trainer_state|log_extra|log_metric|environments|kwargs|args)$/;

/** Columns that TRL hands to a function of the script: its other parameters, and what it takes of `**kwargs`. */
function columnsOf(text: string, name: string): readonly string[] {
  const own = parsed(text).get(name);
  if (own === undefined) return [];
  const body = /^[^\n]*(?:\n(?:[ \t].*)?)*/.exec(text.slice(own.close))?.[0] ?? "";
  const taken = [...body.matchAll(/\bkwargs(?:\[|\.get\()\s*["'](\w+)["']/g)].map(
    ([, column = ""]) => column,
  );
  return [...new Set([...own.required, ...taken])].filter((column) => !given.test(column));
}

const lost = (name: string, reason: string): ScriptReward => ({ kind: "lost", name, reason });

/** `from trl.rewards import accuracy_reward as right` */
function importedFromTrl(tokens: readonly PythonToken[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== "line" || tokens[i + 1]?.text !== "from" || tokens[i + 2]?.text !== "trl") continue;
    const end = tokens.findIndex(({ kind }, at) => at > i && kind === "line");
    const words = tokens.slice(i + 1, end < 0 ? undefined : end).map(({ text }) => text);
    const taken = words.slice(words.indexOf("import") + 1).filter((word) => !"()".includes(word));
    for (const part of taken.join(" ").split(",")) {
      const [name = "", , alias = name] = part.trim().split(" ");
      if (name !== "") found.set(alias, name);
    }
  }
  return found;
}

/** Two terms need two names. */
function distinct(rewards: readonly ScriptReward[]): ScriptReward[] {
  const taken = new Set<string>();
  return rewards.map((reward) => {
    let { name } = reward;
    for (let n = 2; taken.has(name); n++) name = `${reward.name}_${n}`;
    taken.add(name);
    return { ...reward, name };
  });
}
