/** Why another setting keeps a key from being read: then no value of it is refused. */
import type { DocumentModel } from "../rules/model.ts";
import { switches } from "../trainers/trl/switches.ts";
import { usesCritic, usesReference } from "../trainers/verl/shape.ts";

interface ReadCondition {
  readonly keys: RegExp;
  /** Undefined where the key is read, or where that cannot be known. */
  readonly off: (model: DocumentModel) => string | undefined;
}

const off =
  (flag: string) =>
  (model: DocumentModel): string | undefined =>
    model.flag(flag) === false ? `\`${flag}\` is off` : undefined;

/** verl/trainer/ppo/ray_trainer.py, verl/workers/utils/losses.py and `main_ppo`'s choice of the trainer. */
const verl: readonly ReadCondition[] = [
  { keys: /^algorithm\.(kl_penalty|kl_ctrl\.type)$/, off: off("algorithm.use_kl_in_reward") },
  { keys: /^actor_rollout_ref\.actor\.kl_loss_type$/, off: off("actor_rollout_ref.actor.use_kl_loss") },
  { keys: /^trainer\.v1\./, off: off("trainer.use_v1") },
  {
    keys: /^critic\./,
    off: (model) =>
      model.text("algorithm.adv_estimator") !== undefined && !usesCritic(model)
        ? "no critic is trained"
        : undefined,
  },
  {
    keys: /^actor_rollout_ref\.ref\./,
    off: (model) => {
      const known = ["algorithm.use_kl_in_reward", "actor_rollout_ref.actor.use_kl_loss"];
      const decided = known.every((key) => model.flag(key) !== undefined);
      return decided && !usesReference(model) ? "no reference model is used" : undefined;
    },
  },
];

/** For TRL's trainers: `trl-unread` reports the others. */
const trl: readonly ReadCondition[] = [
  { keys: /^packing_strategy$/, off: off("packing") },
  { keys: /^bnb_4bit_quant_type$/, off: off("load_in_4bit") },
  { keys: /^lora_(r|dropout)$/, off: off("use_peft") },
  // A value that it does not know samples at random.
  { keys: /^train_sampling_strategy$/, off: () => "an unknown strategy counts as `random`" },
];

export function unreadBecause(model: DocumentModel, key: string): string | undefined {
  const { framework, form } = model.document;
  const reasons =
    framework === "verl"
      ? verl.filter(({ keys }) => keys.test(key)).map((gate) => gate.off(model))
      : framework === "trl"
        ? [
            ...trl.filter(({ keys }) => keys.test(key)).map((gate) => gate.off(model)),
            ...switches
              .filter(({ keys, forms }) => keys.includes(key) && forms?.includes(form) !== false)
              .map((one) => one.off(model)),
          ]
        : [];
  return reasons.find((reason) => reason !== undefined);
}
