import type { Fix } from "../../../../../config/check/diagnostic.ts";
import type { Setting } from "../../../../text/document.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";
import { valueEdit } from "../../../../rules/fix.ts";
import { setTo } from "../../fixes.ts";
import { actor, found, isNull, lacking, ref, rollout, shortName, size, verlRule } from "../../rule.ts";
import { gpus, hasEngineWorkers, sequenceParallel, usesCritic, usesReference } from "../../shape.ts";

/** Three roles divide what they forward; each has a name for all GPUs together, deprecated, and one for each. */
interface ForwardRole {
  readonly section: string;
  readonly name: string;
  /** The key that switches it off. */
  readonly dynamic: string;
}
const roles = (model: RuleModel): ForwardRole[] => [
  { section: actor, name: "ppo_micro_batch_size", dynamic: `${actor}.use_dynamic_bsz` },
  { section: rollout, name: "log_prob_micro_batch_size", dynamic: `${actor}.use_dynamic_bsz` },
  ...(usesReference(model)
    ? [{ section: ref, name: "log_prob_micro_batch_size", dynamic: `${actor}.use_dynamic_bsz` }]
    : []),
  ...(usesCritic(model)
    ? [{ section: "critic", name: "ppo_micro_batch_size", dynamic: "critic.use_dynamic_bsz" }]
    : []),
];

const isSet = (model: RuleModel, key: string): boolean => (model.value(key) ?? null) !== null;

function ofRole(model: RuleModel, { section, name, dynamic }: ForwardRole): RuleDiagnostic[] {
  if (model.flag(dynamic) !== false) return [];
  const [all, each] = [`${section}.${name}`, `${section}.${name}_per_gpu`];
  if (isSet(model, all) && model.written(each) !== undefined && isSet(model, each))
    return both(model, all, each);
  if (isSet(model, all) && (isNull(model, each) || section === "critic")) return oldOnly(model, all, each);
  return [];
}

function both(model: RuleModel, all: string, each: string): RuleDiagnostic[] {
  const message = `\`${shortName(all)}\` and \`${shortName(each)}\` are both set, but verl accepts only one: keep the second. The first counts over all GPUs and is deprecated.`;
  return found(model, [all, each], message, { fixes: [emptied(model.written(all))] });
}

const emptied = (setting: Setting | undefined): Fix | undefined =>
  setting === undefined || setting.shared === true
    ? undefined
    : {
        title: `Set \`${shortName(setting.key)}\` to null`,
        edits: [valueEdit(setting, "null")],
        preferred: true,
      };

/** The critic's own default copies the old name's value into the new one, and then both are set. */
function oldOnly(model: RuleModel, all: string, each: string): RuleDiagnostic[] {
  const critic = all.startsWith("critic");
  if (!critic && !hasEngineWorkers(model)) return [];
  const why = critic
    ? `\`${each}\` takes its value by default, and verl refuses both together`
    : `verl's workers read only \`${shortName(each)}\`, which is null, and fail when they start`;
  const setting = model.written(all);
  const message = `\`${shortName(all)}\` is deprecated: ${why}.`;
  return found(model, [all], message, {
    fixes: [setting === undefined ? undefined : perGpu(model, setting, each)],
  });
}

/** Renames the setting, with its share of the value where that is whole. */
function perGpu(model: RuleModel, setting: Setting, each: string): Fix | undefined {
  const [total, gpu, sequence] = [
    size(model, setting.key),
    gpus(model)?.count,
    sequenceParallel(model)?.count ?? 1,
  ];
  if (total === undefined || gpu === undefined || setting.shared === true) return undefined;
  const share = (total * sequence) / gpu;
  if (!Number.isInteger(share)) return undefined;
  const name = model.document.form === "yaml" ? each.slice(each.lastIndexOf(".") + 1) : each;
  return {
    title: `Write \`${shortName(each)}\` ${share} (${total} / ${gpu / sequence} ranks)`,
    edits: [{ range: setting.keyRange, newText: name }, valueEdit(setting, String(share))],
    preferred: true,
  };
}

/** All unset keys are one diagnostic, because one flag makes all of them unnecessary. */
function absent(model: RuleModel): RuleDiagnostic[] {
  const keys = roles(model)
    .filter(({ section, name, dynamic }) => {
      const both = [`${section}.${name}`, `${section}.${name}_per_gpu`];
      return model.flag(dynamic) === false && both.every((key) => isNull(model, key));
    })
    .map(({ section, name }) => `${section}.${name}_per_gpu`);
  if (keys.length === 0) return [];
  const names = keys.map((key) => `\`${shortName(key)}\``).join(", ");
  const flag = `${actor}.use_dynamic_bsz`;
  const message = `${names} ${keys.length === 1 ? "is" : "are"} not set: set ${keys.length === 1 ? "it" : "each"}, or \`${shortName(flag)}\`.`;
  const fixes = [...(keys.length === 1 ? [setTo(model, keys[0]!, 1)] : []), setTo(model, flag, true)];
  const written = keys.some((key) => model.written(key) !== undefined);
  return written && model.document.form === "script"
    ? found(model, keys, message, { fixes })
    : lacking(model, message, { fixes });
}

export const microBatch = verlRule({
  id: "verl-micro-batch",
  title: "Missing, duplicate or deprecated micro-batch size",
  why: "Unless `use_dynamic_bsz` is on, `ActorConfig.__post_init__`, `CriticConfig.__post_init__` (verl/workers/config) and `validate_config` (verl/utils/config.py) require exactly one of `…micro_batch_size` and `…micro_batch_size_per_gpu`. The first passes there, but since 0.8 `ActorRolloutRefWorker.init_model` (verl/workers/engine_workers.py) asserts the second: without a message, minutes later, on every GPU.",
  check: (model) => [...roles(model).flatMap((role) => ofRole(model, role)), ...absent(model)],
});
