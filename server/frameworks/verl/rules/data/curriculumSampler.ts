import { setTo } from "../../mend.ts";
import { found, verlRule } from "../../rule.ts";

const [sampler, workers] = ["data.sampler.class_path", "data.dataloader_num_workers"];

export const curriculumSampler = verlRule({
  id: "verl-curriculum-sampler",
  title: "A sampler of one's own behind workers that read ahead",
  why: "`create_rl_sampler` (verl/trainer/main_ppo.py, up to 0.7) asserts `dataloader_num_workers` 0 for a sampler class: workers would fetch batches before the sampler can reorder them. From 0.8 on there is no `data.sampler`.",
  before: "0.8.0",
  check(model) {
    const count = model.number(workers);
    if (model.text(sampler) === undefined || count === undefined || count === 0) return [];
    const message = `\`${workers}\` is ${count}: with a sampler of your own it must be 0, or batches are fetched before it can order them.`;
    return found(model, [workers, sampler], message, { fixes: [setTo(model, workers, 0)] });
  },
});
