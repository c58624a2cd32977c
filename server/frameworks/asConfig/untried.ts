/** Why trying the reward of a converted configuration would say nothing of its run. */
import type { Converted } from "../convert/index.ts";

/** @returns undefined where the config's reward and rows are those that train */
export function whyUntried({ rowsChangedBy, rewardReplaced }: Converted): string | undefined {
  if (rowsChangedBy !== undefined)
    return `The reward was not tried: the script changes its rows (\`${rowsChangedBy}\`) before it trains, and only running it shows what the reward gets. Save the changed rows to a file and train on that file, then this tries every row.`;
  return rewardReplaced
    ? "The reward was not tried: the config has a placeholder for the one that trains. Write that one into the config that `gradus convert` makes, then check the config."
    : undefined;
}
