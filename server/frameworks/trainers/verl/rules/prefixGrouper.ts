import { multiplesNear } from "../arithmetic.ts";
import { changed } from "../fixes.ts";
import { actor, found, size, verlRule } from "../rule.ts";
import { dataParallel, isV1, trainBatch } from "../shape.ts";

const [grouper, balance] = [`${actor}.use_prefix_grouper`, "trainer.balance_batch"];

export const prefixGrouper = verlRule({
  id: "verl-prefix-grouper",
  title: "Groups not divisible among the GPUs",
  why: "With `use_prefix_grouper` and `trainer.balance_batch`, `_balance_batch` (verl/trainer/ppo/ray_trainer.py) keeps the responses to one prompt on one rank and refuses a number of prompts that is not divisible by the number of data-parallel ranks (`get_group_balanced_partitions`, verl/utils/seqlen_balancing.py). The newer trainer of 0.9 does not group.",
  since: "0.7.1",
  check(model) {
    const [prompts, ranks] = [size(model, trainBatch), dataParallel(model)];
    if (model.flag(grouper) !== true || model.flag(balance) === false || isV1(model)) return [];
    if (prompts === undefined || ranks === undefined || prompts % ranks.count === 0) return [];
    const fixes = multiplesNear(prompts, ranks.count).map((fit) =>
      changed(model, trainBatch, fit, `${ranks.count} × ${fit / ranks.count}`),
    );
    const message = `\`use_prefix_grouper\` keeps a prompt's responses on one rank, but ${prompts} prompts (\`${trainBatch}\`) are not divisible among ${ranks.count} ranks (${ranks.how}).`;
    return found(model, [trainBatch, grouper, ...ranks.keys], message, { fixes });
  },
});
