import { plural } from "../../../shared/lib/format.ts";
import { isOwn, placeOf, type Rule } from "../rule.ts";
import { pairsText } from "./repeatedPrompt.ts";

/** What evaluation asks is not trained on under another spelling. */
export const splitLeak: Rule = {
  id: "split-leak",
  title: "Held-out prompts that are trained on",
  why: "A fifth of all tasks, chosen by a hash of prompt and answer, is held out from training. A prompt that appears twice, with another answer, or with another spelling, has two hashes, so one of its rows may train and the other evaluate. pass@k then measures memorisation. Prompts are compared without case, white space and final punctuation.\n\nRemove the repeated rows. Data of more than 64 MiB are not read while a config is checked.",
  check({ config, root, report, facts }) {
    const { tasks } = config.top;
    const leaked = facts?.prompts(tasks).leaked;
    const pair = leaked?.first[0];
    if (leaked === undefined || pair === undefined) return;
    const index = String(pair[1].task);
    const at = placeOf(root, "tasks", index, "dataset") ?? placeOf(root, "tasks", index);
    if (!isOwn(at)) return;
    report({
      rule: splitLeak.id,
      severity: "warning",
      message: `${plural(leaked.count, "prompt")} ${leaked.count === 1 ? "is" : "are"} both trained on and held out for evaluation (${pairsText(leaked)}): remove one of each.`,
      key: `tasks.${index}.dataset`,
      at,
    });
  },
};
