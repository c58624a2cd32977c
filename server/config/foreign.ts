/** Whose config a YAML file is: those of other trainers are recognised by keys that only they have. */
import { parseDocument, isMap, isScalar } from "yaml";

export type ConfigKind = "gradus" | "verl" | "trl" | "openrlhf";

const signs: Readonly<Record<Exclude<ConfigKind, "gradus">, readonly string[]>> = {
  verl: ["actor_rollout_ref", "reward_model", "custom_reward_function", "hydra"],
  trl: ["model_name_or_path", "num_generations", "per_device_train_batch_size", "dataset_name", "trl"],
  openrlhf: ["actor_num_nodes", "prompt_data", "advantage_estimator", "remote_rm_url", "pretrain"],
};

/** Some key of another trainer at a line's beginning: nearly every Gradus config is told from the others without parsing. */
const anySign = new RegExp(`^\\s*[{"']*(?:${Object.values(signs).flat().join("|")})\\b`, "m");

export function foreignKind(text: string): ConfigKind {
  if (!anySign.test(text)) return "gradus";
  const { contents } = parseDocument(text, { logLevel: "silent", uniqueKeys: false });
  if (!isMap(contents)) return "gradus";
  const keys = contents.items.map(({ key }) => (isScalar(key) ? String(key.value) : ""));
  if (keys.includes("tasks") || keys.includes("extends")) return "gradus";
  const found = (["verl", "trl", "openrlhf"] as const).find((kind) =>
    signs[kind].some((sign) => keys.includes(sign)),
  );
  return found ?? "gradus";
}
