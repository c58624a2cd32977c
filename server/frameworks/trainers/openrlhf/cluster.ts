/** How OpenRLHF lays models out over GPUs: openrlhf/cli/train_ppo_ray.py. */
import type { Flags } from "./flags.ts";

export type ModelGroup = "actor" | "ref" | "critic" | "reward";

export const groupNames: Readonly<Record<ModelGroup, string>> = {
  actor: "actor",
  ref: "reference model",
  critic: "critic",
  reward: "reward model",
};

interface Gpus {
  readonly nodes: number;
  readonly each: number;
}

export function gpusOf(flags: Flags, group: ModelGroup): Gpus | undefined {
  const [nodes, each] = [flags.number(`${group}.num_nodes`), flags.number(`${group}.num_gpus_per_node`)];
  return nodes === undefined || each === undefined ? undefined : { nodes, each };
}

export const totalOf = ({ nodes, each }: Gpus): number => nodes * each;

/** GPUs that hold one copy of a batch together: a ring of attention, and tensor parallelism. */
function sharedBy(flags: Flags): number {
  return Math.max(
    1,
    (flags.number("ds.ring_attn_size") ?? 1) * (flags.number("ds.tensor_parallel_size") ?? 1),
  );
}

/** Processes of the actor that each get batches of their own; undefined where that is not known. */
export function actorsOf(flags: Flags, group: ModelGroup = "actor"): number | undefined {
  const gpus = gpusOf(flags, group);
  return gpus === undefined ? undefined : Math.floor(totalOf(gpus) / sharedBy(flags));
}

/** `2 × 8 = 16 GPUs`. */
export const gpusText = ({ nodes, each }: Gpus): string =>
  nodes === 1 ? `${each} GPUs` : `${nodes} × ${each} = ${nodes * each} GPUs`;

/** Samples of one rollout: prompts × responses. */
export interface RolloutSize {
  readonly prompts: number;
  readonly responses: number;
  readonly samples: number;
}

export function samplesOf(flags: Flags): RolloutSize | undefined {
  const [prompts, responses] = [
    flags.number("rollout.batch_size"),
    flags.number("rollout.n_samples_per_prompt"),
  ];
  return prompts === undefined || responses === undefined
    ? undefined
    : { prompts, responses, samples: prompts * responses };
}

/** Whether a critic is trained: with the estimator `gae`. */
export const hasCritic = (flags: Flags): boolean => flags.text("algo.advantage.estimator") === "gae";

/** Whether rewards come from a server, a function or an agent instead of its own reward model. */
export const scoredOutside = (flags: Flags): boolean | undefined => {
  const sources = [flags.value("reward.remote_url"), flags.value("train.agent_func_path")];
  if (sources.some((source) => typeof source === "string")) return true;
  return sources.every((source) => source === null) ? false : undefined;
};
