/** The model that a script makes for its trainer: loaded by name, given an adapter, or both in several statements. */
import type { Json } from "../../../../shared/lib/json.ts";
import type { PythonToken } from "../../../lib/python/tokens.ts";
import { ExpressionReader, evaluated, type PythonExpression } from "../../text/python/expression.ts";

type Call = Extract<PythonExpression, { readonly kind: "call" }>;

export interface ScriptAdapter {
  readonly rank: Json;
  readonly alpha: Json;
  readonly dropout: Json;
}

interface ScriptModel {
  readonly base?: Json;
  readonly adapter?: ScriptAdapter;
  /** What of it no config says. */
  readonly lost: readonly string[];
}

/** peft's own, and those of Unsloth's `get_peft_model`. */
const peftDefaults: ScriptAdapter = { rank: 8, alpha: 8, dropout: 0 };
const unslothDefaults: ScriptAdapter = { rank: 16, alpha: 16, dropout: 0 };

/** What a call makes of a model that it is given. */
type Step = (call: Call, made: ScriptModel, names: Names) => ScriptModel;
type Names = ReadonlyMap<string, PythonExpression>;

/** @param at the trainer's argument @param end where the trainer is called */
export function readScriptModel(
  tokens: readonly PythonToken[],
  at: PythonExpression,
  names: Names,
  end: number,
): ScriptModel {
  const value = evaluated(at, names);
  if (typeof value === "string") return { base: value, lost: [] };
  const calls = at.kind === "name" ? madeOf(tokens, at.name, end) : at.kind === "call" ? [at] : [];
  return calls.reduce<ScriptModel>(
    (made, call) => (call.kind === "call" ? stepOf(call)(call, made, names) : made),
    { lost: [] },
  );
}

/** The calls that a name is assigned, in order; `model, tokenizer = f(…)` assigns to its first name. */
function madeOf(tokens: readonly PythonToken[], name: string, end: number): PythonExpression[] {
  return tokens.flatMap((token, i) => {
    const begins = token.text === name && token.kind === "name" && tokens[i - 1]?.kind === "line";
    if (!begins || token.start > end) return [];
    const equals = tokens.findIndex(({ kind, text }, j) => j > i && (kind === "line" || text === "="));
    if (tokens[equals]?.text !== "=") return [];
    const other = tokens.slice(i + 1, equals);
    if (other.length > 0 && other[0]?.text !== ",") return [];
    return [new ExpressionReader(tokens, equals + 1).expression()];
  });
}

/** Whether a call of this name goes on with an adapter of an earlier training. */
export const loadsAdapter = (callee: string): boolean =>
  /\b(Auto)?PeftModel\w*\.from_pretrained$/.test(callee);

function stepOf({ callee }: Call): Step {
  if (loadsAdapter(callee)) return continued;
  if (callee.endsWith(".from_pretrained")) return loaded;
  if (/(^|\.)get_peft_model$/.test(callee)) return adapted;
  return unknown;
}

const argument = (call: Call, place: number, ...keys: readonly string[]): PythonExpression | undefined =>
  call.keywords.find(({ name }) => keys.includes(name))?.value ?? call.positional[place];

const loaded: Step = (call, _, names) => {
  const base = evaluated(argument(call, 0, "model_name", "pretrained_model_name_or_path"), names);
  return typeof base === "string" ? { base, lost: [] } : unknown(call, { lost: [] }, names);
};

/** `PeftModel.from_pretrained(base, FOLDER)`: an adapter of an earlier training. */
const continued: Step = (call, made, names) => {
  const first = argument(call, 0, "model", "pretrained_model_name_or_path");
  const folder = evaluated(argument(call, 1, "model_id"), names) ?? evaluated(first, names);
  const meant = first?.kind === "name" ? names.get(first.name) : first;
  const inner = meant?.kind === "call" ? stepOf(meant)(meant, made, names) : made;
  const named = typeof folder === "string" ? ` \`${folder}\`` : "";
  return {
    ...inner,
    lost: [
      ...inner.lost,
      `the script goes on with the adapter${named} (\`${call.callee}\`); the config begins with the model without it, and so does its KL reference`,
    ],
  };
};

/** `get_peft_model(model, LoraConfig(…))` and Unsloth's, which is given the settings themselves. */
const adapted: Step = (call, made, names) => {
  const given = argument(call, 1, "peft_config");
  const config = given?.kind === "name" ? names.get(given.name) : given;
  if (config !== undefined && (config.kind !== "call" || !config.callee.endsWith("LoraConfig")))
    return { ...made, lost: [...made.lost, adapterLost(call)] };
  const adapter = config === undefined ? loraOf(call, names, unslothDefaults) : loraOf(config, names);
  return { ...made, adapter };
};

/** @param defaults those of peft are not those of TRL's own arguments */
export function loraOf(call: Call, names: Names, defaults = peftDefaults): ScriptAdapter {
  const value = (name: string, otherwise: Json): Json =>
    evaluated(call.keywords.find((one) => one.name === name)?.value, names) ?? otherwise;
  return {
    rank: value("r", defaults.rank),
    alpha: value("lora_alpha", defaults.alpha),
    dropout: value("lora_dropout", defaults.dropout),
  };
}

const adapterLost = ({ callee }: Call): string =>
  `the script gives the model an adapter by code (\`${callee}\`); write \`model.adapter\``;

const unknown: Step = ({ callee }, made) => ({
  ...made,
  lost: [...made.lost, `the script makes the model by code (\`${callee}\`); write \`model\``],
});
