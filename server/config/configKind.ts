/** Whose config a YAML file is: those of other trainers are recognised by keys that only they have. */
import { parseDocument, isMap, isScalar } from "yaml";
import { trainersThat, type TrainerThat } from "../../shared/run/trainers.ts";

export type ConfigKind = "gradus" | TrainerThat<"checked">;
/** What a file is found to be that anybody may name: most files are of programs that are not known here. */
export type FileKind = ConfigKind | "site" | "curriculum_test" | "unknown";

const signs: Readonly<Record<Exclude<ConfigKind, "gradus">, readonly string[]>> = {
  verl: ["actor_rollout_ref", "reward_model", "custom_reward_function", "hydra"],
  trl: ["model_name_or_path", "num_generations", "per_device_train_batch_size", "dataset_name", "trl"],
  openrlhf: ["actor_num_nodes", "prompt_data", "advantage_estimator", "remote_rm_url", "pretrain"],
};

/** Some key of another trainer at a line's beginning: nearly every Gradus config is recognised without parsing. */
const anySign = new RegExp(`^\\s*[{"']*(?:${Object.values(signs).flat().join("|")})\\b`, "m");

/** A file that must be a config of Gradus. */
export const isConfigName = (file: string): boolean => /\.gradus\.ya?ml$/.test(file);

export function configKind(text: string): ConfigKind {
  if (!anySign.test(text)) return "gradus";
  const { contents } = parseDocument(text, { logLevel: "silent", uniqueKeys: false });
  if (!isMap(contents)) return "gradus";
  const keys = contents.items.map(({ key }) => (isScalar(key) ? String(key.value) : ""));
  if (keys.includes("tasks") || keys.includes("extends")) return "gradus";
  const found = trainersThat("checked").find((kind) => signs[kind].some((sign) => keys.includes(sign)));
  return found ?? "gradus";
}

/**
 * Whether a file whose name does not say so is a config of Gradus: most of its keys at the top are, and `tasks` or
 * `extends` is one of them, or two others. Told by its lines, so that a slip of syntax does not hide it.
 * @param known the keys that a config may have at the top
 */
export function looksOwn(text: string, known: readonly string[]): boolean {
  const keys = [...text.matchAll(/^["']?([A-Za-z_][\w-]*)["']?\s*:(?=\s|$)/gm)].map(([, key = ""]) => key);
  const own = keys.filter((key) => known.includes(key));
  const enough = own.includes("tasks") || own.includes("extends") || own.length >= 2;
  return enough && own.length * 2 > keys.length;
}
