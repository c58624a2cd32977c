import { divisorsNear } from "../../arithmetic.ts";
import { changed } from "../../fixes.ts";
import { actor, found, shortName, size, verlRule } from "../../rule.ts";
import { equation, gpus, sequenceParallel } from "../../shape.ts";

const [mini, micro] = [`${actor}.ppo_mini_batch_size`, `${actor}.ppo_micro_batch_size`];

export const globalMicroBatch = verlRule({
  id: "verl-global-micro-batch",
  title: "Global micro-batch does not fit",
  why: "`ActorConfig.validate` (verl/workers/config/actor.py) requires that the deprecated `ppo_micro_batch_size` divides `ppo_mini_batch_size` and, times the GPUs per sequence, gives each GPU a sample. Since 0.8 verl refuses the key.",
  before: "0.8.0",
  check(model) {
    const [whole, part] = [size(model, mini), size(model, micro)];
    if (model.flag(`${actor}.use_dynamic_bsz`) !== false || whole === undefined || part === undefined)
      return [];
    if (whole % part !== 0) {
      const fixes = divisorsNear(part, whole).map((fit) =>
        changed(model, micro, fit, `${whole} = ${fit} × ${whole / fit}`),
      );
      const message = `\`${shortName(mini)}\` ${whole} is not divisible by \`${shortName(micro)}\` ${part}.`;
      return found(model, [micro, mini], message, { fixes });
    }
    const [all, sequence] = [gpus(model), sequenceParallel(model)?.count];
    if (all === undefined || sequence === undefined || part * sequence >= all.count) return [];
    const message = `\`${shortName(micro)}\` ${part}${sequence === 1 ? "" : ` × ${sequence} GPUs a sequence`} is less than ${equation(all)} GPUs, so some would get no sample.`;
    return found(model, [micro, ...all.keys], message, {
      fixes: [changed(model, micro, Math.ceil(all.count / sequence))],
    });
  },
});
