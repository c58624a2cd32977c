import type { RuleDiagnostic } from "../../../rules/rule.ts";
import { gpusOf, hasCritic, gpusText, groupNames, totalOf, type ModelGroup } from "../cluster.ts";
import type { Flags } from "../flags.ts";
import { changes } from "../../../rules/multiples.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const colocation = openrlhfRule({
  id: "openrlhf-colocation",
  title: "Colocated models need equal GPUs",
  why: "Models that share GPUs need the same layout. With `train.colocate_all` vLLM's engines × their tensor parallelism must equal the actor's GPUs, unless training is asynchronous, where vLLM has its own. With it or `train.colocate_actor_ref` actor and reference need the same nodes and GPUs (if `algo.kl.init_coef` is above 0), and with `train.colocate_critic_reward` critic and reward model do. `train` in openrlhf/cli/train_ppo_ray.py asserts it.",
  check(flags) {
    const all = flags.on("train.colocate_all");
    const anchored = all || flags.on("train.colocate_actor_ref");
    const reference = anchored && (flags.number("algo.kl.init_coef") ?? 0) > 0;
    const criticAndReward = flags.on("train.colocate_critic_reward") && hasCritic(flags);
    return [
      ...(all ? engines(flags) : []),
      ...(reference
        ? pair(flags, "actor", "ref", all ? "train.colocate_all" : "train.colocate_actor_ref")
        : []),
      ...(criticAndReward ? pair(flags, "critic", "reward", "train.colocate_critic_reward") : []),
    ];
  },
});

function engines(flags: Flags): RuleDiagnostic[] {
  const [count, size] = [flags.number("vllm.num_engines"), flags.number("vllm.tensor_parallel_size")];
  const gpus = gpusOf(flags, "actor");
  if (
    flags.on("train.async_enable") ||
    count === undefined ||
    count < 1 ||
    size === undefined ||
    gpus === undefined
  )
    return [];
  const total = totalOf(gpus);
  if (total === count * size) return [];
  const engines = ["vllm.num_engines", "vllm.tensor_parallel_size"];
  const keys = [...engines, "actor.num_gpus_per_node", "actor.num_nodes", "train.colocate_all"];
  const message = `With \`${flags.name("train.colocate_all")}\` vLLM and the actor share GPUs: ${count} engines × ${size} = ${count * size} GPUs do not match the actor's ${gpusText(gpus)}.`;
  const fixes =
    total % size === 0
      ? changes(flags.written("vllm.num_engines"), [total / size], (value) => `${value} × ${size} = ${total}`)
      : [];
  return flags.diagnostic(keys, message, { fixes });
}

function pair(flags: Flags, one: ModelGroup, other: ModelGroup, cause: string): RuleDiagnostic[] {
  const [first, second] = [gpusOf(flags, one), gpusOf(flags, other)];
  if (first === undefined || second === undefined) return [];
  if (first.nodes === second.nodes && first.each === second.each) return [];
  const layouts = [other, one].flatMap((group) => [`${group}.num_gpus_per_node`, `${group}.num_nodes`]);
  const message = `With \`${flags.name(cause)}\` the ${groupNames[one]} and the ${groupNames[other]} share GPUs, so they need the same nodes and GPUs, not ${layoutText(first)} and ${layoutText(second)}.`;
  const fixes = [
    ...(first.nodes === second.nodes ? [] : changes(flags.written(`${other}.num_nodes`), [first.nodes])),
    ...(first.each === second.each ? [] : changes(flags.written(`${other}.num_gpus_per_node`), [first.each])),
  ];
  return flags.diagnostic([...layouts, cause], message, { fixes });
}

const layoutText = ({ nodes, each }: { nodes: number; each: number }): string => `${nodes} × ${each}`;
