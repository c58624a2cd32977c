/** TRL 1.16 (`DPOConfig`) → Gradus: losses over preference pairs. */
import { plural } from "../../../../../shared/lib/format.ts";
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { ConfigDraft, fields } from "../../../lens/configDraft.ts";
import type { Settings } from "../../../lens/settings.ts";
import { run, tasks, update, type GenerationSizes } from "./settings.ts";

/** Keys that DPOConfig has and GRPOConfig does not. */
export const preferenceKeys = [
  "loss_weights",
  "label_smoothing",
  "f_divergence_type",
  "f_alpha_divergence_coef",
  "ld_alpha",
  "use_weighting",
  "discopop_tau",
  "precompute_ref_log_probs",
  "precompute_ref_batch_size",
];

type Loss = (settings: Settings) => JsonObject;

const smoothing = (settings: Settings): JsonObject => {
  const label_smoothing = settings.need("label_smoothing");
  return label_smoothing === 0 ? {} : { label_smoothing };
};

function divergence(settings: Settings): JsonObject {
  const kind = settings.text("f_divergence_type") ?? "reverse_kl";
  const alpha = settings.need("f_alpha_divergence_coef");
  switch (kind) {
    case "reverse_kl":
      return {};
    case "forward_kl":
      return { divergence: kind };
    case "js_divergence":
      return { divergence: "jensen_shannon" };
    case "alpha_divergence":
      return { divergence: { alpha } };
    default:
      settings.refuse("f_divergence_type", "not a divergence of TRL 1.16; reverse_kl is used instead");
      return {};
  }
}

const beta = (settings: Settings): JsonObject => ({ beta: settings.need("beta") });
const dpo =
  (more: (settings: Settings) => JsonObject = () => ({})): Loss =>
  (settings) => ({ use: "dpo", ...beta(settings), ...more(settings), ...divergence(settings) });

const losses: Readonly<Record<string, Loss>> = {
  sigmoid: dpo(),
  hinge: dpo(() => ({ link: "hinge" })),
  robust: dpo((settings) => ({ link: "robust", ...smoothing(settings) })),
  discopop: dpo((settings) => ({ link: "discopop", tau: settings.need("discopop_tau") })),
  sigmoid_norm: dpo(() => ({ normalise: true })),
  ipo: (settings) => ({ use: "ipo", ...beta(settings), normalise: true, ...divergence(settings) }),
  exo_pair: (settings) => ({
    use: "exo",
    ...beta(settings),
    ...smoothing(settings),
    ...divergence(settings),
  }),
  nca_pair: (settings) => ({ use: "nca", ...beta(settings) }),
  bco_pair: (settings) => ({ use: "bco", ...beta(settings) }),
  sppo_hard: (settings) => ({ use: "sppo", ...beta(settings) }),
  apo_zero: (settings) => ({ use: "apo", ...beta(settings), variant: "zero" }),
  apo_down: (settings) => ({ use: "apo", ...beta(settings), variant: "down" }),
  aot: (settings) => ({ use: "aot", ...beta(settings), ...smoothing(settings), compare: "margins" }),
  aot_unpaired: (settings) => ({ use: "aot", ...beta(settings), ...smoothing(settings), compare: "answers" }),
  // The tokens of the better responses; their rewards are above those of the worse.
  sft: () => ({ use: "filtered_likelihood", keep: "best" }),
};

const isLoss = (kind: Json): boolean => typeof kind === "string" && kind in losses;

/** A configuration of DPOTrainer, and not of GRPOTrainer. */
export function isPreference(written: ReadonlyMap<string, Json>): boolean {
  const kind = written.get("loss_type");
  return (
    preferenceKeys.some((key) => written.has(key)) ||
    (Array.isArray(kind) ? kind.every(isLoss) : isLoss(kind ?? null))
  );
}

/** @returns the losses asked for, each with its factor */
function chosen(settings: Settings): { readonly loss: JsonObject; readonly factor: number }[] {
  const kinds = (settings.list("loss_type") ?? ["sigmoid"]).map(String);
  const weights = settings.list("loss_weights")?.map(Number);
  return kinds.flatMap((kind, i) => {
    const loss = losses[kind]?.(settings);
    if (loss === undefined)
      settings.refuse("loss_type", "TRL 1.16 does not have this loss; it is left out", kind);
    return loss === undefined ? [] : [{ loss, factor: weights?.[i] ?? 1 }];
  });
}

function objective(settings: Settings, draft: ConfigDraft): void {
  const [first = { loss: losses["sigmoid"]!(settings), factor: 1 }, ...others] = chosen(settings);
  if (settings.need("ld_alpha") !== 1)
    settings.refuse("ld_alpha", "Gradus weights tokens beyond a pair's common length as the others");
  if (settings.flag("use_weighting"))
    settings.refuse("use_weighting", "Gradus does not weight pairs by their likelihood under the policy");
  draft.set("advantage", { baseline: "none", scale: "none" });
  draft.set("objective", {
    ...first.loss,
    ...fields({ factor: first.factor === 1 ? undefined : first.factor }),
    ...(others.length === 0 ? {} : { also: others.map(({ loss, factor }) => ({ ...loss, factor })) }),
    aggregate: "token_mean",
  });
  draft.set("kl", []);
}

/** TRL counts pairs: one is a prompt with two rollouts. */
function batches(settings: Settings, draft: ConfigDraft): GenerationSizes {
  const device = settings.need("per_device_train_batch_size");
  const [accumulate, processes] = [
    settings.need("gradient_accumulation_steps"),
    settings.need("num_processes"),
  ];
  const pairs = Math.max(1, device * accumulate * processes);
  draft.say(
    "rollout",
    `TRL counts pairs: ${device} a device × ${plural(processes, "process")} × ${accumulate} accumulated = ${plural(pairs, "pair")} an optimiser step.\nA pair is the best and the worst rollout of a group, or two recorded ones that carry the same \`pair\`.`,
  );
  // TRL bounds prompt and response together.
  const tokens = settings.need("max_length");
  draft.set("rollout", { prompts: pairs, group: 2, max_tokens: tokens });
  return { generated: 2 * pairs, group: 2, mini: 2 * pairs, tokens };
}

export function convertTrlPreference(settings: Settings, draft = new ConfigDraft()): ConfigDraft {
  const batch = batches(settings, draft);
  run(settings, draft, batch);
  tasks(settings, draft);
  if (settings.has("dataset_name"))
    settings.refuse(
      "dataset_name",
      "Gradus generates pairs: recorded ones train from `replay: { use: file, path: pairs.jsonl }`, rollouts with `pair` and a reward",
    );
  draft.set("reward", { terms: { preference: "exact_match" } });
  settings.replaceReward(
    "reward_funcs",
    "TRL's pairs are labelled; `exact_match` is a placeholder for what ranks two responses",
    null,
  );
  objective(settings, draft);
  if (settings.flag("sync_ref_model"))
    settings.refuse(
      "sync_ref_model",
      "write a copy under `models` (`polyak`) and name it as `objective.anchor`",
    );
  update(settings, draft, batch);
  return draft;
}
