import type { Json } from "../../../../../shared/lib/json.ts";
import { rowsOf } from "../dataset.ts";
import { setTo } from "../fixes.ts";
import { inRelease } from "../inRelease.ts";
import { actor, policy, rollout, shortName, size, verlRule } from "../rule.ts";
import { engineOf } from "../shape.ts";
import type { RuleDiagnostic, RuleModel } from "../../../rules/rule.ts";

/** Keys of the tree that no line of verl reads, each with what the run does whatever they say. */
const nowhere: Readonly<Record<string, string>> = {
  [`${actor}.freeze_vision_tower`]: "This run trains a vision tower, too",
  [`${rollout}.over_sample_rate`]: "This run waits for every response",
  [`${rollout}.multi_stage_wake_up`]: "This run wakes the inference engine in one go",
  [`${rollout}.multi_turn.num_repeat_rollouts`]: "This run repeats a prompt `rollout.n` times",
  [`${rollout}.sglang_engine_mode`]: "This run starts SGLang as a server",
  "data.return_raw_input_ids": "This run's batches have no raw input ids",
};

const isOn = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && value !== false && value !== 0;

function unread(model: RuleModel): RuleDiagnostic[] {
  const version = model.document.version.text;
  return Object.entries(nowhere).flatMap(([key, instead]) => {
    const at = model.written(key);
    if (at === undefined || !isOn(at.value) || at.value === model.fact(key)?.default) return [];
    const message = `${instead}: verl ${version} accepts \`${shortName(key)}\` and reads it nowhere.`;
    return inRelease(model, { at, message, severity: "warning", since: "0.8" });
  });
}

/** The clip of the gradient's norm is the optimizer's. */
function clips(model: RuleModel): RuleDiagnostic[] {
  return [actor, "critic"].flatMap((role) => {
    const [old, now] = [`${role}.grad_clip`, `${role}.optim.clip_grad`];
    const at = model.written(old);
    const [meant, used] = [model.number(old), model.number(now)];
    if (at === undefined || meant === undefined || used === undefined || meant === used) return [];
    const message = `This run clips gradients at ${used}: verl ${model.document.version.text} reads \`${shortName(now)}\`, not \`${shortName(old)}\`.`;
    return inRelease(model, {
      at,
      message,
      severity: "warning",
      since: "0.8",
      fixes: [setTo(model, now, meant)],
    });
  });
}

/** FSDP and Megatron each read a rank of their own. */
function adapter(model: RuleModel): RuleDiagnostic[] {
  const engine = engineOf(model)?.kind;
  const keys = { fsdp: `${policy}.lora_rank`, megatron: `${policy}.lora.rank` };
  const [read, other] =
    engine === "megatron" ? [keys.megatron, keys.fsdp] : engine === "fsdp" ? [keys.fsdp, keys.megatron] : [];
  if (read === undefined || other === undefined) return [];
  const at = model.written(other);
  const rank = size(model, other);
  if (at === undefined || rank === undefined || model.number(read) !== 0) return [];
  const message = `This run trains the whole model, not an adapter of rank ${rank}: with ${engine === "fsdp" ? "FSDP" : "Megatron"} verl reads \`${shortName(read)}\`.`;
  return inRelease(model, {
    at,
    message,
    severity: "error",
    since: "0.8",
    fixes: [setTo(model, read, rank)],
  });
}

const [enabled, scorer] = ["reward.reward_model.enable", "reward.reward_model.model_path"];

function rewardModel(model: RuleModel): RuleDiagnostic[] {
  const at = model.written(scorer);
  if (at === undefined || at.value === null || model.written(enabled) !== undefined) return [];
  if (model.flag(enabled) !== false) return [];
  const message = `This run scores without the reward model ${at.text}: \`${enabled}\` is off.`;
  return inRelease(model, {
    at,
    message,
    severity: "error",
    since: "0.9",
    fixes: [setTo(model, enabled, true)],
  });
}

const loop = `${rollout}.agent.default_agent_loop`;

/** The prompt shows the tools, and only the loop that plays the episode calls them. */
function tools(model: RuleModel): RuleDiagnostic[] {
  const at = ["tool_config_path", "function_tool_path"]
    .map((name) => model.written(`${rollout}.multi_turn.${name}`))
    .find((setting) => isOn(setting?.value ?? setting?.partial));
  if (at === undefined || model.text(loop) !== "single_turn_agent") return [];
  const rows = rowsOf(model)?.rows;
  if (rows?.some((row) => "agent_name" in row) === true) return [];
  const whose = rows === undefined ? "of rows without `agent_name`" : "(no row has an `agent_name`)";
  const message = `This run never calls the tools ${whose}: \`${shortName(loop)}\` is \`single_turn_agent\`, which only shows them in the prompt.`;
  const severity = rows === undefined ? "info" : "error";
  return inRelease(model, { at, message, severity, since: "0.8", fixes: [setTo(model, loop, "tool_agent")] });
}

export const unreadKeys = verlRule({
  id: "verl-unread",
  title: "Setting that the run does not use",
  why: "verl's tree has keys that no line outside its data classes reads, and keys that only another engine or loop reads; Hydra takes them all. `get_peft_model` of verl/workers/engine/fsdp/transformer_impl.py reads `model.lora_rank`, verl/utils/megatron_peft_utils.py `model.lora.rank`; the engines clip by `optim.clip_grad`; `generate_sequences` of verl/experimental/agent_loop/agent_loop.py plays rows without `agent_name` by `agent.default_agent_loop`. What a run was meant to train with is an error where the release is known, and a note where nothing names one.",
  since: "0.8.0",
  check: (model) => [unread, clips, adapter, rewardModel, tools].flatMap((rule) => rule(model)),
});
