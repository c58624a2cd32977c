/** The trainers that TRL's command line starts, each with its program, its arguments class and its own class. */

export interface TrlTrainer {
  /** Of the program, `trl grpo`, and of the tree of its keys in the tables. */
  readonly name: string;
  readonly config: string;
  /** Its class, and the tree of that one's arguments. */
  readonly trainer: string;
  /** Arguments of the class that may be positional in every release. */
  readonly positions: readonly string[];
}

const trainer = (name: string, title: string, ...positions: readonly string[]): TrlTrainer => ({
  name,
  config: `${title}Config`,
  trainer: `${title}Trainer`,
  positions,
});

export const trainers: readonly TrlTrainer[] = [
  trainer("grpo", "GRPO", "model", "reward_funcs", "args", "train_dataset"),
  trainer("rloo", "RLOO", "model", "reward_funcs", "args", "train_dataset"),
  trainer("dpo", "DPO", "model", "ref_model", "args"),
  trainer("sft", "SFT", "model", "args"),
  trainer("kto", "KTO", "model", "ref_model", "args"),
  trainer("reward", "Reward", "model", "args"),
  trainer("distillation", "Distillation", "model"),
];

export const trainerOfTree = (tree: string | undefined): TrlTrainer | undefined =>
  trainers.find(({ name }) => name === tree);

export const everyTrainer: readonly string[] = trainers.map(({ name }) => name);

/** Those whose completions are generated in groups and rewarded. */
export const rewarded: readonly string[] = ["grpo", "rloo"];
