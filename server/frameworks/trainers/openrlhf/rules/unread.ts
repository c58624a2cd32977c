import type { Setting } from "../../../text/document.ts";
import type { RuleDiagnostic } from "../../../rules/rule.ts";
import { flatNames } from "../../../releases/facts/moves.ts";
import { hasCritic, scoredOutside } from "../cluster.ts";
import type { Flags } from "../flags.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const unread = openrlhfRule({
  id: "openrlhf-unread",
  title: "Model, reward or template that the run does not use",
  why: "With an agent openrlhf/cli/train_ppo_ray.py sets `reward.remote_url` to `agent`, and with a remote URL it makes no reward model. Only the estimator `gae` has a critic: every other one unsets `critic.model_name_or_path`. `reward.normalize_enable` is read by the reward model and the critic alone (openrlhf/trainer/ray/launcher.py, ppo_critic.py). The datasets of SFT, DPO and reward models set `data.tokenizer_chat_template` only with `data.apply_chat_template`. Releases 0.8.0 to 0.11.0 agree on the agent, the remote reward and the critic; the other two were read in 0.11.0. What a run was meant to score with is an error; what only goes with a model that there is not is a warning.",
  trees: ["train_ppo_ray", "train_sft", "train_dpo", "train_rm"],
  check: (flags) => [agent, rewardModel, normalised, critic, template].flatMap((rule) => rule(flags)),
});

const [url, model, own] = [
  "reward.remote_url",
  "reward.model_name_or_path",
  "train.agent_func_path",
] as const;

/** A setting with a value that is known and not empty. */
function named(flags: Flags, name: string): Setting | undefined {
  const at = flags.written(name);
  return typeof at?.value === "string" && at.value !== "" ? at : undefined;
}

function agent(flags: Flags): RuleDiagnostic[] {
  const [at, by] = [named(flags, url), named(flags, own)];
  if (at === undefined || by === undefined) return [];
  const message = `This run is scored by the agent ${by.text}, not by ${at.text}: with \`${flags.name(own)}\` OpenRLHF never reads \`${flags.name(url)}\`. Remove one of them.`;
  return [{ at, related: [by], message }];
}

function rewardModel(flags: Flags): RuleDiagnostic[] {
  const at = named(flags, model);
  const by = named(flags, own) ?? named(flags, url);
  if (at === undefined || by === undefined || scoredOutside(flags) !== true) return [];
  const message = `This run is scored by ${by.text}, not with the reward model ${at.text}: OpenRLHF loads no reward model where \`--${by.key}\` is set. Remove one of them.`;
  return [{ at, related: [by], message }];
}

/** Said by the reward model's own diagnostic, where one is named. */
function normalised(flags: Flags): RuleDiagnostic[] {
  const at = flags.written("reward.normalize_enable");
  if (at?.value !== true || named(flags, model) !== undefined) return [];
  if (scoredOutside(flags) !== true || estimatorOf(flags) === undefined || hasCritic(flags)) return [];
  const message = `This run's rewards are not normalised: only a reward model and a critic read \`--${at.key}\`, and it has neither. Normalise them in the reward function, or remove the flag.`;
  return [{ at, message, severity: "warning", onKey: true }];
}

const estimatorOf = (flags: Flags): string | undefined => flags.text("algo.advantage.estimator");

/** Scripts leave the places of a critic that is off: they change nothing that trains. `freezing_steps` counts for the actor. */
const ofCritic = /^critic\.(?!num_|freezing_steps$)/;

function critic(flags: Flags): RuleDiagnostic[] {
  const estimator = estimatorOf(flags);
  if (estimator === undefined || hasCritic(flags)) return [];
  const dotted = new Map([...flatNames].map(([name, flat]) => [flat, name]));
  const [at, ...related] = flags.model.document.settings.filter(
    ({ key, value }) => ofCritic.test(dotted.get(key) ?? key) && value !== null && value !== false,
  );
  if (at === undefined) return [];
  const more =
    related.length === 0
      ? ""
      : `, nor ${related.length === 1 ? "the other setting" : `the ${related.length} other settings`} of one`;
  const message = `This run trains no critic: with \`${flags.name("algo.advantage.estimator")} ${estimator}\` OpenRLHF never reads \`--${at.key}\`${more}. Remove ${related.length === 0 ? "it" : "them"}, or use the estimator \`gae\`.`;
  return [{ at, related, message, severity: "warning", onKey: true }];
}

function template(flags: Flags): RuleDiagnostic[] {
  const at = named(flags, "data.tokenizer_chat_template");
  if (at === undefined || flags.value("data.apply_chat_template") !== false) return [];
  const message = `This run applies no chat template: \`--${at.key}\` counts only with \`${flags.name("data.apply_chat_template")}\`. Add it.`;
  return [{ at, message }];
}
