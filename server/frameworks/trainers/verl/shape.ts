/** How verl spreads its work: GPUs, model parallelism, data-parallel ranks, and the generation of workers and trainer. */
import type { RuleModel } from "../../rules/rule.ts";
import { actor, settingText, size } from "./rule.ts";

/** A number with the settings that make it, and how. */
export interface CountedBy {
  readonly count: number;
  /** `` `trainer.n_gpus_per_node` 8 × `trainer.nnodes` 2 `` */
  readonly how: string;
  readonly keys: readonly string[];
}

/** With the result, unless there is only one factor: `` `a` 3 × `b` 2 = 6 ``. */
export const equation = ({ how, count }: CountedBy): string =>
  how.endsWith(` ${count}`) ? how : `${how} = ${count}`;

const perNode = "trainer.n_gpus_per_node";
const nodes = "trainer.nnodes";

/**
 * GPUs that train: `validate_config` of verl/utils/config.py. Only if the file sets the GPUs per node: the default
 * of 8 describes verl's machines, and a launch elsewhere overrides it.
 */
export function gpus(model: RuleModel): CountedBy | undefined {
  if (model.written(perNode) === undefined && !model.document.base.has(perNode)) return undefined;
  const [each, many] = [size(model, perNode), size(model, nodes)];
  return each === undefined || many === undefined ? undefined : product(model, [perNode, nodes]);
}

/** Undefined where a factor is unknown. */
export function product(model: RuleModel, keys: readonly string[]): CountedBy | undefined {
  const factors = keys.map((key) => size(model, key));
  if (factors.some((factor) => factor === undefined)) return undefined;
  const named = keys.map((key, i) => ({ key, factor: factors[i] ?? 1 }));
  const telling = named.filter(({ factor }) => factor !== 1);
  return {
    count: named.reduce((all, { factor }) => all * factor, 1),
    how: (telling.length > 0 ? telling : named.slice(0, 1))
      .map(({ key, factor }) => settingText(key, factor))
      .join(" × "),
    keys,
  };
}

/** Of one role: actor or critic. */
interface TrainingEngine {
  readonly kind: "fsdp" | "megatron" | "veomni" | "other";
  /** The section of its settings. */
  readonly section: string;
}

export function engineOf(model: RuleModel, role = actor): TrainingEngine | undefined {
  const strategy = model.text(`${role}.strategy`);
  if (strategy === undefined) return undefined;
  const kind = /^fsdp2?$/.test(strategy)
    ? "fsdp"
    : strategy === "megatron" || strategy === "veomni"
      ? strategy
      : "other";
  return { kind, section: kind === "megatron" || kind === "veomni" ? `${role}.${kind}` : role };
}

/** GPUs that hold one sample's tokens together: Ulysses' sequence parallelism, or Megatron's context parallelism. */
export function sequenceParallel(model: RuleModel, role = actor): CountedBy | undefined {
  const engine = engineOf(model, role);
  switch (engine?.kind) {
    case "fsdp": {
      const own = product(model, [`${role}.ulysses_sequence_parallel_size`]);
      const inEngine =
        role === actor
          ? `${actor}.fsdp_config.ulysses_sequence_parallel_size`
          : "critic.fsdp.ulysses_sequence_parallel_size";
      // FSDPActorConfig copies its own, older setting only where that is above 1.
      return own?.count === 1 && model.fact(inEngine) !== undefined ? product(model, [inEngine]) : own;
    }
    case "megatron":
      return product(model, [`${engine.section}.context_parallel_size`]);
    case "veomni":
      return product(model, [`${engine.section}.ulysses_parallel_size`]);
    default:
      return undefined;
  }
}

/** GPUs that hold one copy of the model and one share of the data. */
export function modelParallel(model: RuleModel, role = actor): CountedBy | undefined {
  const engine = engineOf(model, role);
  if (engine?.kind !== "megatron") return sequenceParallel(model, role);
  const names = ["tensor_model_parallel_size", "pipeline_model_parallel_size", "context_parallel_size"];
  return product(
    model,
    names.map((name) => `${engine.section}.${name}`),
  );
}

/** Shares that a batch is cut into; undefined where unknown, or where the GPUs do not divide into whole ones. */
export function dataParallel(model: RuleModel, role = actor): CountedBy | undefined {
  const [all, each] = [gpus(model), modelParallel(model, role)];
  if (all === undefined || each === undefined || all.count % each.count !== 0) return undefined;
  if (
    engineOf(model, role)?.kind === "megatron" &&
    model.flag(`${role}.megatron.dynamic_context_parallel`) === true
  )
    return { count: 1, how: `\`${role}.megatron.dynamic_context_parallel\``, keys: [] };
  const how = each.count === 1 ? all.how : `${all.how} / ${each.how}`;
  return { count: all.count / each.count, how, keys: [...all.keys, ...each.keys] };
}

/** Since 0.8 one implementation of the workers is left: verl/workers/engine_workers.py. */
export const hasEngineWorkers = (model: RuleModel): boolean => model.since("0.8.0");

/** Since 0.9 verl/trainer/ppo/v1 trains, unless the older trainer is selected. */
export const isV1 = (model: RuleModel): boolean =>
  model.since("0.9.0") && model.flag("trainer.use_v1") === true;

export const trainerMode = (model: RuleModel): string | undefined => model.text("trainer.v1.trainer_mode");

/** `need_reference_policy` of verl/trainer/ppo/utils.py. */
export const usesReference = (model: RuleModel): boolean =>
  model.flag("algorithm.use_kl_in_reward") === true || model.flag(`${actor}.use_kl_loss`) === true;

/** `need_critic` of verl/trainer/ppo/utils.py. */
export function usesCritic(model: RuleModel): boolean {
  const asked = model.value("critic.enable");
  if (typeof asked === "boolean") return asked;
  return model.text("algorithm.adv_estimator") === "gae";
}

/** Prompts of a step, and the responses to each. */
export interface StepBatch {
  readonly prompts: number;
  readonly n: number;
}
export const trainBatch = "data.train_batch_size";
export const groupSize = "actor_rollout_ref.rollout.n";

export function batchOf(model: RuleModel): StepBatch | undefined {
  const [prompts, n] = [size(model, trainBatch), size(model, groupSize)];
  return prompts === undefined || n === undefined ? undefined : { prompts, n };
}
