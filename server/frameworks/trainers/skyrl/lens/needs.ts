/** check.json: what a machine must have, and which numbers must divide which, as SkyRL's `validate_batch_sizes` says. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { Needs } from "../../../lens/exporter.ts";
import type { ModelPlace } from "../../../carried/files.ts";
import type { RewardPlan } from "../../../carried/reward/file.ts";
import { policy } from "./keys.ts";
import type { SkyrlPlan } from "./plan.ts";

export function needsOf(
  settings: JsonObject,
  { estimator }: SkyrlPlan,
  reward: RewardPlan,
  model: ModelPlace,
): Needs {
  const gpus =
    number(settings["trainer.placement.policy_num_gpus_per_node"]) *
    number(settings["trainer.placement.policy_num_nodes"]);
  return {
    python: ">=3.11",
    packages: { skyrl: ">=0.3.0,<0.4", "skyrl-gym": ">=0.4.0", vllm: ">=0.23", ...reward.packages },
    model: model.written ? null : model.path,
    gpus,
    node: false,
    divides: [
      ...dividesOf(settings, gpus, "trainer.policy_mini_batch_size"),
      ...(estimator === "gae" ? dividesOf(settings, gpus, "trainer.critic_mini_batch_size") : []),
    ],
  };
}

const number = (value: Json | undefined): number => Number(value ?? 1);

/** Whole updates in a step, and whole micro-batches on each GPU. */
function dividesOf(settings: JsonObject, gpus: number, mini: string): Needs["divides"] {
  const [whole, group] = ["trainer.train_batch_size", "generator.n_samples_per_prompt"];
  const parallel = gpus / number(settings[`${policy}.sequence_parallel_size`]);
  const micro = number(settings["trainer.micro_train_batch_size_per_gpu"]);
  const rows = number(settings[mini]) * number(settings[group]);
  return [
    { whole, part: mini, of: number(settings[whole]), by: number(settings[mini]) },
    { whole: `${mini} * ${group}`, part: "GPUs", of: rows, by: parallel },
    ...(micro === 1
      ? []
      : [
          {
            whole: `${mini} * ${group} / GPUs`,
            part: "trainer.micro_train_batch_size_per_gpu",
            of: Math.floor(rows / parallel),
            by: micro,
          },
        ]),
  ];
}
