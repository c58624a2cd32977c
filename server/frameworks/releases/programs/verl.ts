/** verl's programs that read a tree of settings, with the one that each reads where its launch names none. */
const trees: readonly (readonly [program: RegExp, tree: string])[] = [
  [/^verl\.trainer\.main_ppo(_sync)?$/, "ppo_trainer"],
  [/^verl\.trainer\.main_generation_server$/, "ppo_trainer"],
  [/^verl\.trainer\.sft_trainer(_ray)?$/, "sft_trainer_engine"],
  [/^verl\.trainer\.fsdp_sft_trainer$/, "sft_trainer"],
  [/^verl\.trainer\.main_eval$/, "evaluation"],
  [/^verl\.trainer\.main_generation$/, "generation"],
  [/^verl\.experimental\.fully_async_policy\.fully_async_main$/, "fully_async_ppo_trainer"],
  [/^verl\.experimental\.one_step_off_policy\.main_ppo$/, "one_step_off_ppo_trainer"],
];

/** Of a module or a script by its path; undefined for other projects' programs, and recipes that verl's package lacks. */
export function verlTreeOf(program: string): string | undefined {
  const name = program.replace(/\.py$/, "");
  const whole = /^\w+$/.test(name) ? `verl.trainer.${name}` : name;
  return trees.find(([pattern]) => pattern.test(whole))?.[1];
}

/** Names of trees in verl's own folders. */
export const ownTree =
  /^(?:.*\/)?((?:fully_async_|one_step_off_)?ppo(?:_\w+)?_trainer|sft_trainer(?:_engine)?|evaluation|generation)(?:\.yaml)?$/;

/** Of the supervised trainer with another engine than FSDP: `engine=megatron`. */
export const sftTreeOf = (engine: string): string =>
  engine === "fsdp" ? "sft_trainer_engine" : `sft_trainer_${engine}`;
