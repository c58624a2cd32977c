import { changes } from "../../../../rules/multiples.ts";
import type { RuleDiagnostic } from "../../../../rules/rule.ts";
import {
  actorsOf,
  hasCritic,
  scoredOutside,
  samplesOf,
  groupNames,
  type ModelGroup,
  type RolloutSize,
} from "../../cluster.ts";
import type { Flags } from "../../flags.ts";
import { openrlhfRule } from "../../openrlhfRule.ts";

export const sampleBatches = openrlhfRule({
  id: "openrlhf-sample-batches",
  title: "Fewer sample batches than processes",
  why: "The samples of a rollout, `rollout.batch_size` × `n_samples_per_prompt`, go to the models in batches of `rollout.micro_batch_size`, and every process of a model must get one. openrlhf/cli/train_ppo_ray.py refuses too few for the actor. For reference, critic and reward model `RayActorGroup.async_run_method_batch` (openrlhf/trainer/ray/launcher.py) fails after the first generation. GPUs of one attention ring or tensor-parallel group count as one process.",
  check(flags) {
    const rollout = samplesOf(flags);
    const micro = flags.number("rollout.micro_batch_size");
    if (rollout === undefined || micro === undefined || micro < 1) return [];
    const batches = Math.floor(rollout.samples / micro);
    const short = groupsOf(flags).find((group) => (actorsOf(flags, group) ?? 0) > batches);
    return short === undefined ? [] : problem(flags, short, rollout, micro);
  },
});

/** Groups that samples are sent to. */
function groupsOf(flags: Flags): ModelGroup[] {
  const dynamic = flags.on("train.dynamic_batch_enable");
  const others: ModelGroup[] = [
    ...((flags.number("algo.kl.init_coef") ?? 0) > 0 ? ["ref" as const] : []),
    ...(hasCritic(flags) ? ["critic" as const] : []),
    ...(scoredOutside(flags) === false ? ["reward" as const] : []),
  ];
  return dynamic ? ["actor"] : ["actor", ...others];
}

function problem(flags: Flags, group: ModelGroup, rollout: RolloutSize, micro: number): RuleDiagnostic[] {
  const { prompts, responses, samples } = rollout;
  const actors = actorsOf(flags, group) ?? 1;
  const batches = Math.floor(samples / micro);
  const sizes = ["rollout.micro_batch_size", "rollout.batch_size", "rollout.n_samples_per_prompt"];
  const layout = [`${group}.num_gpus_per_node`, `${group}.num_nodes`];
  const message = `${prompts} prompts × ${responses} responses = ${samples} samples, in batches of ${micro} (\`${flags.name("rollout.micro_batch_size")}\`): ${batches} batches for ${actors} processes of the ${groupNames[group]}. Each needs one.`;
  const most = Math.floor(samples / actors);
  const needed = Math.ceil((actors * micro) / responses);
  const fixes = [
    ...(most >= 1
      ? changes(
          flags.written("rollout.micro_batch_size"),
          [most],
          (value) => `${samples} / ${value} = ${Math.floor(samples / value)} batches`,
        )
      : []),
    ...changes(
      flags.written("rollout.batch_size"),
      [needed],
      (value) => `${value} × ${responses} / ${micro} = ${Math.floor((value * responses) / micro)} batches`,
    ),
  ].map(({ title, edits }) => ({ title, edits }));
  return flags.diagnostic([...sizes, ...layout], message, { fixes });
}
