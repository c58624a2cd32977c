import { divisorsNear } from "../../arithmetic.ts";
import { changed } from "../../fixes.ts";
import { found, size, verlRule } from "../../rule.ts";
import { isV1, trainBatch, trainerMode } from "../../shape.ts";

const [fetched, filter] = ["data.gen_batch_size", "algorithm.filter_groups.enable"];

export const generationBatch = verlRule({
  id: "verl-generation-batch",
  title: "Batch not divisible by `gen_batch_size`",
  why: "`_next_train_batch` (verl/trainer/ppo/v1/trainer_base.py) fetches `data.gen_batch_size` prompts at a time and refuses a step whose prompts are not a multiple of it. Asynchronous trainers and dynamic sampling set it to 1 and log a warning.",
  since: "0.9.0",
  check(model) {
    const [step, each] = [size(model, trainBatch), size(model, fetched)];
    if (step === undefined || each === undefined || each === 1 || !isV1(model)) return [];
    const own =
      trainerMode(model) !== "sync"
        ? "an asynchronous trainer"
        : model.flag(filter) === true
          ? "dynamic sampling"
          : undefined;
    if (own !== undefined) {
      const message = `verl replaces \`gen_batch_size\` ${each} by 1, because ${own} fetches single prompts.`;
      return found(model, [fetched], message, { severity: "warning" });
    }
    if (step % each === 0) return [];
    const fixes = divisorsNear(each, step).map((fit) =>
      changed(model, fetched, fit, `${step} = ${fit} × ${step / fit}`),
    );
    const message = `\`${trainBatch}\` ${step} is not a multiple of \`gen_batch_size\` ${each}, the number of prompts per fetch: the first step stops.`;
    return found(model, [fetched, trainBatch], message, { fixes });
  },
});
