import { familyOf } from "../../../../launch/families.ts";
import { rewarded } from "../../../../releases/programs/trl.ts";
import { modelNameOf } from "../../python.ts";
import { rewardsOf } from "../../rewards.ts";
import { trlRule } from "../../trlRule.ts";

const reward = "think_format_reward";

export const prefilledThought = trlRule({
  id: "trl-prefilled-thought",
  severity: "warning",
  trees: rewarded,
  title: "Thought that the chat template begins",
  why: "`think_format_reward` (trl/rewards/format_rewards.py) asks that an answer begins with `<think>`. The chat templates of some models write that tag at the end of the prompt, so their answers never begin with it, and the reward is 0 for all of them (TRL issue 6966). Gradus knows a model by its published name alone, and is silent where the script changes the chat template.",
  check(model) {
    const rewards = rewardsOf(model);
    if (rewards?.rewards.some(({ name }) => name === reward) !== true) return [];
    const name = modelNameOf(model);
    const found = name === undefined ? undefined : familyOf(name);
    if (found?.exact !== true || found.template?.think !== "prefilled") return [];
    if (/chat_template/.test(model.document.text)) return [];
    const message = `\`${reward}\` is always 0 here: the chat template of \`${name}\` ends a conversation with \`<think>\`, so no answer begins with it. Take the reward out, or ask for \`</think>\` alone.`;
    return [{ at: rewards.at, message }];
  },
});
