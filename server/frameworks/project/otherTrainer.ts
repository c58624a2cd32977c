/** Trainers whose YAML is not read here, by keys at its top that say whose it is. */
import { isMap, isScalar, parseDocument } from "yaml";

interface OtherTrainer {
  readonly name: string;
  /** It is this one's if each of the lists has a key in it. */
  readonly keys: readonly (readonly string[])[];
}

const others: readonly OtherTrainer[] = [
  {
    name: "NeMo RL",
    keys: [
      ["policy"],
      ["grpo", "dpo", "sft", "rm", "distillation", "loss_fn"],
      ["loss_fn", "env", "cluster", "data"],
    ],
  },
  { name: "LLaMA-Factory", keys: [["finetuning_type"]] },
  { name: "ms-swift", keys: [["rlhf_type", "train_type"]] },
  { name: "Axolotl", keys: [["base_model"], ["rl", "datasets", "adapter", "sequence_len"]] },
  { name: "AReaL", keys: [["allocation_mode", "gconfig"]] },
  { name: "ROLL", keys: [["actor_train", "actor_infer"]] },
  { name: "SkyRL", keys: [["generator"], ["trainer"]] },
  { name: "open-instruct", keys: [["dataset_mixer", "dataset_mixer_list"]] },
];

/** Some key of these at a line's beginning: nearly every other text is passed without parsing. */
const anySign = new RegExp(`^(?:${others.flatMap(({ keys: [first = []] }) => first).join("|")})\\s*:`, "m");

export function otherTrainer(text: string): string | undefined {
  if (!anySign.test(text)) return undefined;
  const { contents } = parseDocument(text, { logLevel: "silent", uniqueKeys: false });
  if (!isMap(contents)) return undefined;
  const tops = contents.items.map(({ key }) => (isScalar(key) ? String(key.value) : ""));
  // A config of Gradus, and one of verl that another project's program reads.
  if (["tasks", "extends", "actor_rollout_ref"].some((key) => tops.includes(key))) return undefined;
  return others.find(({ keys }) => keys.every((some) => some.some((key) => tops.includes(key))))?.name;
}
