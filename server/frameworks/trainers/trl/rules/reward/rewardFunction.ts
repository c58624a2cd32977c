import type { Setting } from "../../../../text/document.ts";
import type { Fix } from "../../../../../config/check/diagnostic.ts";
import { replace } from "../../../../../config/check/report.ts";
import { Lines } from "../../../../readers/lines.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { parsed, type PythonFunction } from "../../../../text/python/functions.ts";
import { functionsIn, moduleOf, ownRewards, rewardsOf } from "../../rewards.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { trlRule } from "../../trlRule.ts";

export const rewardFunction = trlRule({
  id: "trl-reward-function",
  trees: rewarded,
  title: "Reward function that TRL cannot call",
  why: "A reward function is called with `prompts`, `completions`, `completion_ids`, every other column of the dataset, `trainer_state` and, since TRL 1.0, `log_extra` and `log_metric`, all by name, so it needs `**kwargs` for those it does not read. It returns a list with one number (or None) for each completion: `GRPOTrainer._calculate_rewards` in trl/trainer/grpo_trainer.py, at the first generation. Gradus reads functions of the Python file itself and of modules next to a YAML file or a script, and runs nothing.",
  check: (model) => (model.document.form === "python" ? inFile(model) : inModules(model)),
});

/** What every call gives. */
const given = (model: RuleModel): string[] => [
  "prompts",
  "completions",
  "completion_ids",
  "trainer_state",
  ...(model.since("1.0.0") ? ["log_extra", "log_metric"] : []),
];

function inFile(model: RuleModel): RuleDiagnostic[] {
  const functions = functionsIn(model);
  const lines = new Lines(model.document.text);
  return (rewardsOf(model)?.rewards ?? []).flatMap(({ written }) => {
    const found = functions.get(written);
    if (found === undefined) return [];
    return faults(model, found).map(({ message, missing }) => ({
      at: headOf(found, lines),
      message,
      fixes: missing ? [takingAny(found, lines, model.document.text)] : [],
    }));
  });
}

function inModules(model: RuleModel): RuleDiagnostic[] {
  const { at, rewards } = rewardsOf(model) ?? { at: undefined, rewards: [] };
  return rewards.flatMap(({ written, name = "" }) => {
    const module = ownRewards.includes(written) ? undefined : moduleOf(model, written);
    if (module === undefined) return [];
    const found = parsed(module.text).get(name);
    if (found !== undefined) return faults(model, found).map(({ message }) => ({ at, message }));
    const mentioned = new RegExp(`\\b${name}\\b|import \\*`).test(module.text);
    return mentioned
      ? []
      : [{ at, message: `${module.file.split(/[\\/]/).at(-1)!} next to this file has no \`${name}\`.` }];
  });
}

function faults(model: RuleModel, one: PythonFunction): { message: string; missing: boolean }[] {
  const left = one.takesAny ? [] : given(model).filter((name) => !one.parameters.includes(name));
  const missing = `TRL calls \`${one.name}\` with ${left.map((name) => `\`${name}\``).join(", ")} too, which it does not accept: add \`**kwargs\` to its parameters.`;
  const scalar =
    one.returns.length > 0 &&
    one.returns.every((value) => value.kind === "value" && !Array.isArray(value.value));
  const returned = `\`${one.name}\` returns one value, but TRL needs a list with one number for each completion.`;
  return [
    ...(left.length === 0 ? [] : [{ message: missing, missing: true }]),
    ...(scalar ? [{ message: returned, missing: false }] : []),
  ];
}

function headOf({ name, nameStart }: PythonFunction, lines: Lines): Setting {
  const range = lines.range({ start: nameStart, end: nameStart + name.length });
  return { key: name, value: undefined, text: name, keyRange: range, range, sign: "" };
}

function takingAny({ close, parameters }: PythonFunction, lines: Lines, text: string): Fix {
  const before = text.slice(0, close).trimEnd();
  const comma = parameters.length === 0 || before.endsWith(",") ? "" : ",";
  const at = lines.position(before.length);
  const newText = `${comma}${parameters.length === 0 ? "" : " "}**kwargs`;
  return replace({ start: at, end: at }, newText, "Add `**kwargs`");
}
