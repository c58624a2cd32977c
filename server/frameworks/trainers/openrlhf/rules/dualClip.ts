import { openrlhfRule } from "../openrlhfRule.ts";
import { changes } from "../../../rules/multiples.ts";

export const dualClip = openrlhfRule({
  id: "openrlhf-dual-clip",
  title: "Dual clip not above 1",
  why: "Dual-clip PPO (Mastering Complex Control in MOBA Games with Deep Reinforcement Learning) bounds the loss of bad responses whose ratio has grown, so the bound is above 1; the paper uses 3. `PolicyLoss` (openrlhf/models/loss.py) asserts it.",
  check(flags) {
    const [at, bound] = [flags.written("actor.dual_clip"), flags.number("actor.dual_clip")];
    if (at === undefined || bound === undefined || bound > 1) return [];
    const message = `\`${flags.name("actor.dual_clip")}\` is ${bound} but must be above 1: the paper uses 3.`;
    return [{ at, message, fixes: changes(at, [3]) }];
  },
});
