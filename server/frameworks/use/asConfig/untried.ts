/** Why trying the reward of a converted configuration would say nothing of its run. */
import type { Converted } from "../../trainers/convert.ts";

/**
 * Undefined where the config's reward and rows are those that train.
 * @param why the rows that its script builds cannot be had
 */
export function whyUntried({ rowsBuilder, rewardReplaced }: Converted, why?: string): string | undefined {
  if (rewardReplaced)
    return "The reward was not tried: the one that trains is no function of this folder. Name one in the launch, or write it into the config that `gradus convert` makes, then check that.";
  return rowsBuilder === undefined || why === undefined
    ? undefined
    : `The reward was not tried: the script changes its rows (\`${rowsBuilder.call}\`) before it trains, and here they cannot be made: ${why}. Save the changed rows to a file and train on that file, then this tries every row.`;
}
