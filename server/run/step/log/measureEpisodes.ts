/** What was played in a step: turns, calls, failures and waiting. */
import type { Batch } from "../../../core/rollouts.ts";
import { mean } from "../../../../shared/lib/mean.ts";

/** Empty where nothing but the policy answered. */
export function measureEpisodes({ records }: Batch): Record<string, number> {
  const episodes = records.flatMap(({ played, turns = [], failed }) =>
    played === undefined ? [] : [{ played, turns, failed }],
  );
  if (episodes.length === 0) return {};
  const calls = episodes.reduce((sum, { played }) => sum + played.calls, 0);
  const failedCalls = episodes.reduce((sum, { played }) => sum + played.failed_calls, 0);
  const waited = mean(
    episodes.map(({ played }) => played.seconds).filter((seconds) => !Number.isNaN(seconds)),
  );
  return {
    "episode/turns": mean(
      episodes.map(({ turns }) => turns.filter(({ role }) => role === "assistant").length),
    ),
    "episode/failed": episodes.filter(({ failed }) => failed !== undefined).length / episodes.length,
    ...(Number.isNaN(waited) ? {} : { "episode/waited": waited }),
    "tools/calls": calls / episodes.length,
    ...(calls === 0 ? {} : { "tools/failed": failedCalls / calls }),
  };
}
