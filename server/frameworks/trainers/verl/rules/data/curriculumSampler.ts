import { setTo } from "../../fixes.ts";
import { found, verlRule } from "../../rule.ts";

const [sampler, workers] = ["data.sampler.class_path", "data.dataloader_num_workers"];

export const curriculumSampler = verlRule({
  id: "verl-curriculum-sampler",
  title: "Custom sampler with prefetching workers",
  why: "`create_rl_sampler` (verl/trainer/main_ppo.py, up to 0.7) asserts `dataloader_num_workers` 0 for a sampler class, because workers would fetch batches before the sampler reorders them. Since 0.8 there is no `data.sampler`.",
  before: "0.8.0",
  check(model) {
    const count = model.number(workers);
    if (model.text(sampler) === undefined || count === undefined || count === 0) return [];
    const message = `\`${workers}\` is ${count} but must be 0 with your own sampler, or workers fetch batches before it can order them.`;
    return found(model, [workers, sampler], message, { fixes: [setTo(model, workers, 0)] });
  },
});
