import { hasCritic } from "../cluster.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const visionModel = openrlhfRule({
  id: "openrlhf-vision",
  severity: "error",
  title: "Images with a critic or packed samples",
  why: "Where prompts hold images (`data.max_images_per_prompt` above 0), there is no critic, so `algo.advantage.estimator` cannot be `gae`, its default; and samples cannot be packed, as tokens of images would lose their pixels. openrlhf/cli/train_ppo_ray.py asserts both, since OpenRLHF 0.10.",
  check(flags) {
    const images = flags.written("data.max_images_per_prompt");
    if (images === undefined || (flags.number("data.max_images_per_prompt") ?? 0) <= 0) return [];
    const packs = flags.written("ds.packing_samples");
    const estimator = flags.written("algo.advantage.estimator");
    const critic = `Prompts with images are trained without a critic, and \`${flags.name("algo.advantage.estimator")}\` is \`gae\`${estimator === undefined ? " by default" : ""}: take \`reinforce_baseline\`, \`rloo\` or \`group_norm\`.`;
    const packed = `Prompts with images cannot be packed: leave \`${flags.name("ds.packing_samples")}\` out.`;
    return [
      ...(hasCritic(flags)
        ? [{ ...flags.placed("algo.advantage.estimator", "data.max_images_per_prompt"), message: critic }]
        : []),
      ...(flags.on("ds.packing_samples") && packs !== undefined
        ? [{ at: packs, message: packed, related: [images] }]
        : []),
    ];
  },
});
