/** The framework of settings if neither a program nor keys of one framework alone show it: the editor needs surer signs. */
import type { Form, Framework } from "../text/document.ts";
import { oldNames } from "../releases/facts/openrlhfNames.ts";
import { evidenceFor, hasStranger } from "../readers/evidence.ts";
import { openrlhfDefaults } from "./openrlhf/lens/flags.ts";
import { trlDefaults } from "./trl/lens/defaults.ts";
import { preferenceKeys } from "./trl/lens/preference.ts";

/** Keys that GRPOConfig, DPOConfig and TRL's script arguments have, and the other two do not. */
const trlKeys = new Set([
  ...Object.keys(trlDefaults).filter(
    (key) => !(key in oldNames) && key !== "num_processes" && !key.startsWith("adam_"),
  ),
  "model_name_or_path",
  "dataset_name",
  "reward_funcs",
  "reward_weights",
  ...preferenceKeys,
  "epsilon_high",
  "delta",
  "off_policy_mask_threshold",
  "vllm_mode",
  "generation_batch_size",
  "steps_per_generation",
  "output_dir",
]);

/**
 * By the most keys that only one of them has, if it reads two thirds of all of them. Converting implies that it is a
 * configuration of one of the three, so less is enough than for the editor (readers/evidence.ts); one flat key is not.
 */
export function ownerByKeys(keys: readonly string[], form: Form): Framework | undefined {
  // The program that a script starts determines it, and the reader already knows that program.
  if (form === "script" || hasStranger(keys)) return undefined;
  const owner = mostKeysOf(keys);
  if (owner === undefined) return undefined;
  const { known, own } = evidenceFor(owner, keys);
  // OpenRLHF is started by flags and has no files: words that many trainers share do not make one of a YAML file.
  if (owner === "openrlhf" && (own < 2 || known < keys.length)) return undefined;
  return known >= (2 / 3) * keys.length ? owner : undefined;
}

function mostKeysOf(keys: readonly string[]): Framework | undefined {
  if (evidenceFor("verl", keys).own > 0) return "verl";
  if (keys.length < 2) return undefined;
  const openrlhf = keys.filter((key) => key in oldNames || isDotted(key)).length;
  const trl = keys.filter((key) => trlKeys.has(key)).length;
  return openrlhf === 0 && trl === 0 ? undefined : trl >= openrlhf ? "trl" : "openrlhf";
}

/** A flag of OpenRLHF since 0.10, and not of verl. */
const isDotted = (key: string): boolean =>
  (key in openrlhfDefaults && !key.startsWith("data.")) ||
  /^(algo|actor|ds|vllm|ckpt|logger|rollout|train|eval)\./.test(key);
