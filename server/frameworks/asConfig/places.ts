/** Which of a framework's settings wrote a value of the converted config: what is wrong with it is said at that line. */
import type { Range } from "../../lib/lines.ts";
import type { Framework } from "../document.ts";

type Sources = readonly (readonly [path: RegExp, ...keys: readonly string[]])[];

const actor = "actor_rollout_ref.actor";
const rollout = "actor_rollout_ref.rollout";

/** The first pattern that fits the path counts, and of its settings the first that the file has. */
const sources: Readonly<Record<Framework, Sources>> = {
  verl: [
    [/^name$/, "trainer.experiment_name"],
    [/^seed$/, "data.seed"],
    [/^steps$/, "trainer.total_training_steps"],
    [/^model\.adapter/, "actor_rollout_ref.model.lora_rank"],
    [/^model/, "actor_rollout_ref.model.path"],
    [/^models\.critic/, "critic.model.path"],
    [/^tasks\.[^.]+\.max_prompt$/, "data.max_prompt_length"],
    [/^tasks\.[^.]+\.overlong$/, "data.filter_overlong_prompts", "data.truncation"],
    [/^tasks\.[^.]+\.prompt$/, "data.prompt_key", "data.train_files"],
    [/^tasks/, "data.train_files"],
    [/^rollout\.prompts$/, "data.train_batch_size"],
    [/^rollout\.group$/, `${rollout}.n`],
    [/^rollout\.max_tokens$/, `${rollout}.response_length`, "data.max_response_length"],
    [/^rollout\.temperature$/, `${rollout}.temperature`],
    [/^rollout\.top_p$/, `${rollout}.top_p`],
    [/^rollout\.top_k$/, `${rollout}.top_k`],
    [/^reward/, "reward.custom_reward_function.path", "custom_reward_function.path"],
    [/^advantage/, "algorithm.adv_estimator"],
    [/^objective\.low$/, `${actor}.clip_ratio_low`, `${actor}.clip_ratio`],
    [/^objective\.high$/, `${actor}.clip_ratio_high`, `${actor}.clip_ratio`],
    [/^objective\.dual$/, `${actor}.clip_ratio_c`],
    [/^objective\.aggregate/, `${actor}.loss_agg_mode`],
    [/^objective\.entropy/, `${actor}.entropy_coeff`],
    [/^objective/, `${actor}.policy_loss.loss_mode`],
    [/^kl.*coefficient$/, `${actor}.kl_loss_coef`, "algorithm.kl_ctrl.kl_coef"],
    [/^kl/, `${actor}.use_kl_loss`, "algorithm.use_kl_in_reward"],
    [/^update\.optimizer\.lr$/, `${actor}.optim.lr`],
    [/^update\.optimizer\.weight_decay$/, `${actor}.optim.weight_decay`],
    [/^update\.optimizer\.warmup$/, `${actor}.optim.lr_warmup_steps`, `${actor}.optim.lr_warmup_steps_ratio`],
    [/^update\.mini_batch$/, `${actor}.ppo_mini_batch_size`],
    [/^update\.epochs$/, `${actor}.ppo_epochs`],
    [/^evaluation/, "trainer.test_freq"],
    [/^checkpoint/, "trainer.save_freq"],
    [/^curriculum/, "algorithm.filter_groups.enable"],
  ],
  trl: [
    [/^name$/, "run_name"],
    [/^seed$/, "seed"],
    [/^steps$/, "max_steps"],
    [/^model\.adapter/, "use_peft"],
    [/^model/, "model_name_or_path"],
    [/^tasks/, "train_dataset", "dataset_name"],
    [/^rollout\.prompts$/, "generation_batch_size", "per_device_train_batch_size"],
    [/^rollout\.group$/, "num_generations"],
    [/^rollout\.max_tokens$/, "max_completion_length", "max_length"],
    [/^rollout\.temperature$/, "temperature"],
    [/^rollout\.top_p$/, "top_p"],
    [/^rollout\.top_k$/, "top_k"],
    [/^reward.*weight$/, "reward_weights", "reward_funcs"],
    [/^reward/, "reward_funcs"],
    [/^advantage/, "scale_rewards"],
    [/^objective\.low$/, "epsilon"],
    [/^objective\.high$/, "epsilon_high", "epsilon"],
    [/^objective/, "loss_type"],
    [/^kl/, "beta"],
    [/^mask/, "mask_truncated_completions"],
    [/^update\.optimizer\.lr$/, "learning_rate"],
    [/^update\.optimizer\.weight_decay$/, "weight_decay"],
    [/^update\.optimizer\.clip_norm$/, "max_grad_norm"],
    [/^update\.optimizer\.warmup$/, "warmup_steps", "warmup_ratio"],
    [/^update\.optimizer\.schedule/, "lr_scheduler_type"],
    [/^update\.mini_batch$/, "gradient_accumulation_steps", "per_device_train_batch_size"],
    [/^update\.epochs$/, "num_iterations"],
  ],
  openrlhf: [
    [/^seed$/, "train.seed"],
    [/^steps$/, "data.max_samples"],
    [/^model\.adapter/, "ds.lora.rank"],
    [/^model/, "actor.model_name_or_path"],
    [/^models\.critic/, "critic.model_name_or_path"],
    [/^tasks\.[^.]+\.max_prompt$/, "data.prompt_max_len"],
    [/^tasks\.[^.]+\.prompt$/, "data.input_key", "data.prompt_dataset"],
    [/^tasks\.[^.]+\.answer$/, "data.label_key", "data.prompt_dataset"],
    [/^tasks/, "data.prompt_dataset"],
    [/^rollout\.prompts$/, "rollout.batch_size"],
    [/^rollout\.group$/, "rollout.n_samples_per_prompt"],
    [/^rollout\.max_tokens$/, "rollout.max_new_tokens", "data.max_len"],
    [/^rollout\.temperature$/, "rollout.temperature"],
    [/^reward/, "reward.remote_url"],
    [/^advantage/, "algo.advantage.estimator"],
    [/^objective/, "actor.policy_loss_type"],
    [/^kl/, "algo.kl.init_coef"],
    [/^update\.optimizer\.lr$/, "actor.adam.lr"],
    [/^update\.mini_batch$/, "train.batch_size"],
    [/^update\.epochs$/, "train.max_epochs"],
    [/^curriculum/, "algo.dynamic_filtering_enable"],
  ],
};

/** undefined where the file does not set it: it is a default of the framework. */
export function placeOf(
  framework: Framework,
  places: ReadonlyMap<string, Range>,
  path: string,
): Range | undefined {
  const [, ...keys] = sources[framework].find(([pattern]) => pattern.test(path)) ?? [];
  return keys.map((key) => places.get(key)).find((place) => place !== undefined);
}
