import { hasCritic } from "../cluster.ts";
import { openrlhfRule } from "../openrlhfRule.ts";

export const visionModel = openrlhfRule({
  id: "openrlhf-vision",
  title: "Images with a critic or packed samples",
  why: "With images in prompts (`data.max_images_per_prompt` above 0) there is no critic, so `algo.advantage.estimator` cannot be `gae`, its default. Samples cannot be packed either, because image tokens would lose their pixels. openrlhf/cli/train_ppo_ray.py asserts both, since OpenRLHF 0.10.",
  check(flags) {
    const images = flags.written("data.max_images_per_prompt");
    if (images === undefined || (flags.number("data.max_images_per_prompt") ?? 0) <= 0) return [];
    const packs = flags.written("ds.packing_samples");
    const estimator = flags.written("algo.advantage.estimator");
    const critic = `OpenRLHF trains on images without a critic, and \`${flags.name("algo.advantage.estimator")}\` is \`gae\`${estimator === undefined ? " by default" : ""}: use \`reinforce_baseline\`, \`rloo\` or \`group_norm\`.`;
    const packed = `Prompts with images cannot be packed: remove \`${flags.name("ds.packing_samples")}\`.`;
    return [
      ...(hasCritic(flags)
        ? flags.diagnostic(["algo.advantage.estimator", "data.max_images_per_prompt"], critic)
        : []),
      ...(flags.on("ds.packing_samples") && packs !== undefined
        ? [{ at: packs, message: packed, related: [images] }]
        : []),
    ];
  },
});
