/** The reward functions that a TRL configuration names, in every form. */
import { dirname, join } from "node:path";
import type { Setting } from "../../text/document.ts";
import type { PythonExpression } from "../../text/python/expression.ts";
import { smallText } from "../../text/fileReader.ts";
import type { RuleModel } from "../../rules/rule.ts";
import { parsed, type PythonFunction } from "../../text/python/functions.ts";
import { trainerOf } from "./python.ts";

interface NamedReward {
  /** The name of its metric; undefined where it cannot be known. */
  readonly name: string | undefined;
  /** As it is written: a name in Python, a dotted path elsewhere. */
  readonly written: string;
}
export interface NamedRewards {
  readonly at: Setting;
  readonly rewards: readonly NamedReward[];
}

/** Functions that `trl grpo` finds by name: trl/scripts/grpo.py. */
export const ownRewards = [
  "accuracy_reward",
  "reasoning_accuracy_reward",
  "think_format_reward",
  "get_soft_overlong_punishment",
];

/** undefined if they are not named here, or their number is unknown. */
export function rewardsOf(model: RuleModel): NamedRewards | undefined {
  if (model.document.form === "python") return inPython(model);
  const functions = model.written("reward_funcs");
  const judge = model.written("reward_model_name_or_path");
  const at = functions ?? judge;
  if (at === undefined) return undefined;
  const { value } = functions ?? {};
  if (functions !== undefined && value === undefined) return undefined;
  const words = Array.isArray(value) ? value.map(String) : typeof value === "string" ? [value] : [];
  const rewardModel = model.text("reward_model_name_or_path");
  return {
    at,
    rewards: [
      ...(rewardModel === undefined ? [] : [named(rewardModel, "/")]),
      ...words.map((word) => named(word, ".")),
    ],
  };
}

const named = (written: string, separator: string): NamedReward => ({
  written,
  name: written.split(separator).at(-1),
});

function inPython(model: RuleModel): NamedRewards | undefined {
  const trainer = trainerOf(model);
  const value = trainer?.get("reward_funcs");
  if (trainer === undefined || value === undefined) return undefined;
  const at = trainer.setting("reward_funcs");
  if (value.kind === "list") return { at, rewards: value.items.map((item) => expressed(item, model)) };
  // A bare name may be a list that is assembled elsewhere.
  const single = value.kind === "value" || (value.kind === "name" && functionsIn(model).has(value.name));
  return single ? { at, rewards: [expressed(value, model)] } : undefined;
}

function expressed(item: PythonExpression, { document }: RuleModel): NamedReward {
  const written = document.text.slice(item.start, item.end);
  if (item.kind === "name") return { written, name: item.name.split(".").at(-1) };
  if (item.kind === "value" && typeof item.value === "string") return named(item.value, "/");
  return { written, name: undefined };
}

/** Functions that the Python file itself defines. */
export const functionsIn = ({ document }: RuleModel): ReadonlyMap<string, PythonFunction> =>
  document.form === "python" ? parsed(document.text) : new Map<string, PythonFunction>();

/** The module of a dotted path, if it is next to the configuration. */
export function moduleOf({ document }: RuleModel, path: string): { file: string; text: string } | undefined {
  const parts = path.split(".").slice(0, -1);
  if (parts.length === 0 || parts.some((part) => !/^\w+$/.test(part))) return undefined;
  const file = join(dirname(document.file), ...parts.slice(0, -1), `${parts.at(-1)!}.py`);
  const text = smallText(file);
  return text === undefined ? undefined : { file, text };
}
