/** Whether the framework accepts a value: by its type and its choices. */
import type { Json } from "../../../shared/lib/json.ts";
import { nearest, listed } from "../../lib/suggest.ts";
import type { Setting } from "../text/document.ts";
import { registered } from "../releases/facts/choices.ts";
import { changeTo } from "../rules/fix.ts";
import type { DocumentModel } from "../rules/model.ts";
import type { KeyFact } from "../releases/tables/table.ts";
import { outOfRange } from "./ranges.ts";
import { isOwnFolder } from "./groups.ts";
import { unreadBecause } from "./unreadKey.ts";
import { countMismatch } from "./arity.ts";
import { wrongType, wrongValue, type KeyDiagnostic } from "./keyRules.ts";

export const values = (model: DocumentModel): KeyDiagnostic[] =>
  model.document.settings.flatMap((setting) => {
    const fact = model.fact(setting.key);
    const count = fact === undefined ? undefined : countMismatch(model, setting, fact);
    if (count !== undefined) return [count];
    if (fact === undefined || setting.value === undefined || setting.value === null || setting.sign === "~")
      return [];
    const wrong = typeMismatch(model, setting, setting.value, fact);
    if (wrong !== undefined) return [wrong];
    const beyond = outOfRange(model, setting, setting.value);
    return beyond === undefined ? wrongChoices(model, setting, setting.value, fact) : [beyond];
  });

/** Keys of verl that take more than the type of their default. */
const loose = /^algorithm\.rollout_correction\.rollout_(is|rs)_threshold$/;

/** verl/trainer/sft_trainer.py takes a word for the steps of an epoch; the trainer of PPO counts with the number. */
const eachEpoch = ({ document: { tree } }: DocumentModel, { key, value }: Setting): boolean =>
  value === "after_each_epoch" && /^sft_trainer_/.test(tree ?? "") && /^trainer\.(save|test)_freq$/.test(key);

const called: Readonly<Record<string, string>> = {
  int: "a whole number",
  float: "a number",
  bool: "a boolean",
};

function typeMismatch(
  model: DocumentModel,
  setting: Setting,
  value: Json,
  fact: KeyFact,
): KeyDiagnostic | undefined {
  const type = fact.type.replace("?", "");
  if (fact.of !== undefined && Array.isArray(value)) return wrongItem(model, setting, value, fact.of);
  const wanted = called[type];
  if (wanted === undefined || takes(model, type, value, setting.text)) return undefined;
  if (loose.test(setting.key) || eachEpoch(model, setting)) return undefined;
  const written = setting.text === "" ? JSON.stringify(value) : setting.text;
  const again =
    fact.default === undefined || fact.default === null
      ? ""
      : ` Its default is \`${JSON.stringify(fact.default)}\`.`;
  return {
    rule: wrongType,
    at: setting,
    message: `\`${setting.key}\` must be ${wanted}, not \`${written}\`.${again}`,
    ...(countsAsOther(model, type, value) ? { severity: "warning" } : {}),
  };
}

/** Without conversion Python calculates with `true` as 1 and treats any number but 0 as true, so the run works. */
const countsAsOther = (
  { document: { framework, form } }: DocumentModel,
  type: string,
  value: Json,
): boolean =>
  framework === "trl" &&
  form !== "script" &&
  (type === "bool" ? typeof value === "number" : typeof value === "boolean");

/** A list of numbers with something else in it. */
function wrongItem(
  model: DocumentModel,
  setting: Setting,
  items: readonly Json[],
  of: "int" | "float",
): KeyDiagnostic | undefined {
  const wrong = items.find((item) => item !== null && !takes(model, of, item, String(item)));
  if (wrong === undefined) return undefined;
  const message = `\`${setting.key}\` takes ${of === "int" ? "whole numbers" : "numbers"}, not \`${String(wrong)}\`.`;
  return { rule: wrongType, at: setting, message };
}

const booleanWord = /^(yes|true|t|y|1|no|false|f|n|0)$/i;

/** Command lines and TRL's YAML convert text; Hydra and Python do not. */
function takes(
  { document: { framework, form } }: DocumentModel,
  type: string,
  value: Json,
  text: string,
): boolean {
  const converted = framework !== "verl" && form !== "python";
  if (typeof value === "string" && value.includes("${")) return true;
  // In Python a boolean is a number.
  if (framework === "verl" && typeof value === "boolean") return true;
  switch (type) {
    case "bool":
      // Command lines: argparse gets the text.
      if (framework === "trl" && form === "script" && /^(on|off)$/i.test(text)) return false;
      if (typeof value === "boolean") return true;
      return converted ? booleanWord.test(String(value)) : value === 0 || value === 1;
    case "int":
      // Python's int() takes no `1e3`.
      if (typeof value === "number")
        return Number.isInteger(value) && !(converted && form === "script" && /^[\d.]+[.eE]/.test(text));
      return converted && typeof value === "string" && /^[-+]?\d+$/.test(value);
    default:
      if (typeof value === "number") return true;
      // PyYAML reads 1e-6 as text, and Transformers converts it.
      return (
        typeof value === "string" &&
        (/^[-+]?(inf|nan)$/i.test(value) || (converted && Number.isFinite(Number(value))))
      );
  }
}

function wrongChoices(model: DocumentModel, setting: Setting, value: Json, fact: KeyFact): KeyDiagnostic[] {
  const choices = fact.choices?.map(String);
  if (choices === undefined || model.isExtended(setting.key, registered)) return [];
  // Files of a group may lie in any folder that is searched.
  if (fact.group === true && !isOwnFolder(model)) return [];
  const items = Array.isArray(value) ? value : [value];
  const word = wordOfFlag(model, setting, value, fact);
  if (word !== undefined) return [word];
  const unread = isEnforced(model, fact) ? undefined : unreadBecause(model, setting.key);
  return items
    .filter(
      (item: Json) =>
        typeof item === "string" && !choices.includes(item) && !isTorchName(model, setting, item),
    )
    .map((item: Json) => refused(setting, String(item), choices, Array.isArray(value)))
    .map((one) =>
      unread === undefined
        ? one
        : { ...one, severity: "warning", message: `${one.message} Nothing reads it here: ${unread}.` },
    );
}

/** Argparse does not check a file, and `getattr(torch, dtype)` of trl/scripts accepts what PyTorch has. */
const isTorchName = (
  { document: { framework, form } }: DocumentModel,
  { key }: Setting,
  value: string,
): boolean =>
  framework === "trl" &&
  form !== "script" &&
  /^(torch_)?dtype$/.test(key) &&
  /^(float64|double|float|half|float8_\w+)$/.test(value);

/** YAML 1.1 reads a bare `no` as false, and no enumeration of Transformers has that. */
function wordOfFlag(
  { document: { framework, form } }: DocumentModel,
  setting: Setting,
  value: Json,
  { type, choices }: KeyFact,
): KeyDiagnostic | undefined {
  if (framework !== "trl" || form === "script" || type !== "any" || typeof value !== "boolean")
    return undefined;
  const meant = value ? undefined : (choices ?? []).find((choice) => choice === "no" || choice === "none");
  const hint = meant === undefined ? "" : ` Write \`"${String(meant)}"\`.`;
  const read =
    form === "yaml" ? `YAML reads \`${setting.text}\` as a boolean` : `\`${setting.text}\` is a flag`;
  const message = `${read}, but \`${setting.key}\` takes a name: Transformers refuses it.${hint}`;
  return {
    rule: wrongValue,
    at: setting,
    message,
    fixes: meant === undefined ? [] : changeTo(setting, `"${String(meant)}"`),
  };
}

/** argparse compares every flag, and Transformers' enumerations every argument; the others are compared where they are read. */
const isEnforced = ({ document: { framework, form } }: DocumentModel, fact: KeyFact): boolean =>
  framework === "openrlhf" ||
  (framework === "trl" && fact.compared !== true && (form === "script" || fact.type === "any"));

function refused(
  setting: Setting,
  value: string,
  choices: readonly string[],
  inList: boolean,
): KeyDiagnostic {
  const meant = nearest(value, choices);
  const hint = meant === undefined ? "" : ` Did you mean \`${meant}\`?`;
  return {
    rule: wrongValue,
    at: setting,
    message: `\`${value}\` is not a value of \`${setting.key}\`.${hint} Allowed: ${listed(choices)}.`,
    fixes: inList ? [] : changeTo(setting, meant),
  };
}
