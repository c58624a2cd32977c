import { changes, lcm, multiplesAround } from "../../../../rules/multiples.ts";
import type { RuleDiagnostic } from "../../../../rules/rule.ts";
import { actorsOf, hasCritic, scoredOutside, groupNames, type ModelGroup } from "../../cluster.ts";
import type { Flags } from "../../flags.ts";
import { openrlhfRule } from "../../openrlhfRule.ts";

export const trainBatch = openrlhfRule({
  id: "openrlhf-train-batch",
  title: "Training batch not divisible among the GPUs",
  why: "DeepSpeed asserts that `train_batch_size` = micro batch × accumulated steps × data-parallel processes, exactly, when it builds the models. `get_ds_train_config` and, for models that do not train, `get_ds_eval_config` of `DeepspeedStrategy` (openrlhf/utils/deepspeed/deepspeed.py) pass the numbers on. GPUs of one attention ring or tensor-parallel group count as one process. With `train.dynamic_batch_enable` the batches of the actor and the critic are cut by tokens instead.",
  check(flags) {
    const [size, micro] = [flags.number("train.batch_size"), flags.number("train.micro_batch_size")];
    if (size === undefined || micro === undefined || micro < 1) return [];
    const shares = groupsOf(flags).flatMap((group) => shareOf(flags, group, micro));
    const broken = shares.find(({ step }) => size <= 0 || size % step !== 0);
    if (broken === undefined) return [];
    const all = shares.map(({ step }) => step).reduce(lcm, 1);
    return diagnosticOf(flags, { size, micro, all }, broken);
  },
});

/** One model's part: a training batch is a multiple of `step`. */
interface ModelShare {
  readonly group: ModelGroup;
  readonly processes: number;
  readonly step: number;
}

function groupsOf(flags: Flags): ModelGroup[] {
  const trained: ModelGroup[] = hasCritic(flags) ? ["actor", "critic"] : ["actor"];
  const frozen: ModelGroup[] = [
    ...((flags.number("algo.kl.init_coef") ?? 0) > 0 ? ["ref" as const] : []),
    ...(scoredOutside(flags) === false ? ["reward" as const] : []),
  ];
  return flags.on("train.dynamic_batch_enable") ? frozen : [...trained, ...frozen];
}

function shareOf(flags: Flags, group: ModelGroup, micro: number): ModelShare[] {
  const processes = actorsOf(flags, group) ?? 0;
  return processes < 1 ? [] : [{ group, processes, step: micro * processes }];
}

interface BatchSizes {
  readonly size: number;
  readonly micro: number;
  /** A multiple that fits all models. */
  readonly all: number;
}

function diagnosticOf(
  flags: Flags,
  { size, micro, all }: BatchSizes,
  { group, processes, step }: ModelShare,
): RuleDiagnostic[] {
  const layout = [`${group}.num_gpus_per_node`, `${group}.num_nodes`];
  const name = flags.name("train.batch_size");
  const message = `\`${name}\` is ${size}, not a multiple of ${micro} samples × ${processes} processes of the ${groupNames[group]} = ${step}: ${size} = ${Math.floor(size / step)} × ${step} + ${size % step}. DeepSpeed refuses it.`;
  const fixes = changes(
    flags.written("train.batch_size"),
    multiplesAround(size, all),
    (value) => `${value / step} × ${micro} × ${processes}`,
  );
  return flags.diagnostic(["train.batch_size", "train.micro_batch_size", ...layout], message, {
    fixes: fixes.map(({ title, edits }) => ({ title, edits })),
  });
}
