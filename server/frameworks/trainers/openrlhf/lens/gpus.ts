/** Where the models are: one GPU has all of them in turn, or as many as `engine.args` says. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { divisorUpTo } from "../../../lens/divisorUpTo.ts";
import type { Batch } from "./batch.ts";

/** Rollouts that a GPU reads at once by default. */
const most = 4;

/** What follows from the GPUs that `args` names, by the flags that it does not say itself. */
export function placement(args: ReadonlyMap<string, Json>, { mini }: Batch): JsonObject {
  const number = (key: string, usual: number): number => Number(args.get(key) ?? usual);
  const [nodes, each] = [number("actor.num_nodes", 1), number("actor.num_gpus_per_node", 1)];
  const apart = args.get("train.colocate_all") === false;
  const ahead = args.get("train.async_enable") === true;
  const engines = Math.max(1, Math.floor((nodes * each) / number("vllm.tensor_parallel_size", 1)));
  const micro = divisorUpTo(Math.max(1, Math.floor(mini / (nodes * each))), most);
  return {
    "actor.num_nodes": nodes,
    "actor.num_gpus_per_node": each,
    "ref.num_nodes": nodes,
    "ref.num_gpus_per_node": each,
    "critic.num_nodes": nodes,
    "critic.num_gpus_per_node": each,
    "vllm.num_engines": engines,
    "train.colocate_all": !apart,
    "vllm.enable_sleep": !apart && !ahead,
    "ds.enable_sleep": !apart && !ahead,
    "vllm.gpu_memory_utilization": apart || ahead ? 0.9 : 0.6,
    "train.micro_batch_size": micro,
    "rollout.micro_batch_size": micro,
  };
}

/** GPUs that the settings take together. */
export function gpusOf(settings: JsonObject): number {
  const number = (key: string): number => Number(settings[key] ?? 1);
  const group = (name: string): number => number(`${name}.num_nodes`) * number(`${name}.num_gpus_per_node`);
  const engines = number("vllm.num_engines") * number("vllm.tensor_parallel_size");
  const shared = settings["train.colocate_all"] === true;
  if (shared && settings["train.async_enable"] !== true) return group("actor");
  const reference = Number(settings["algo.kl.init_coef"] ?? 0) > 0 ? group("ref") : 0;
  const critic = settings["algo.advantage.estimator"] === "gae" ? group("critic") : 0;
  return engines + (shared ? group("actor") : group("actor") + reference + critic);
}
