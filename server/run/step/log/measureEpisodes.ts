/** What was played in a step: turns, calls, failures and waiting. */
import { isEarlierPart, type Batch } from "../../../core/rollouts.ts";
import { mean } from "../../../../shared/lib/mean.ts";

/** Empty where nothing but the policy answered. */
export function measureEpisodes({ records }: Batch): Record<string, number> {
  const rows = records.flatMap(({ played, turns = [], failed, part }) =>
    played === undefined ? [] : [{ played, turns, failed, ...(part && { part }) }],
  );
  const episodes = rows.filter((row) => !isEarlierPart(row));
  if (episodes.length === 0) return {};
  const calls = episodes.reduce((sum, { played }) => sum + played.calls, 0);
  const failedCalls = episodes.reduce((sum, { played }) => sum + played.failed_calls, 0);
  const waited = mean(
    episodes.map(({ played }) => played.seconds).filter((seconds) => !Number.isNaN(seconds)),
  );
  return {
    "episode/turns":
      rows.flatMap(({ turns }) => turns.filter(({ role }) => role === "assistant")).length / episodes.length,
    "episode/failed": episodes.filter(({ failed }) => failed !== undefined).length / episodes.length,
    ...(Number.isNaN(waited) ? {} : { "episode/waited": waited }),
    "episode/rows": rows.length / episodes.length,
    "episode/rewritten": mean(episodes.map(({ played }) => played.rewritten ?? 0)),
    "tools/calls": calls / episodes.length,
    ...(calls === 0 ? {} : { "tools/failed": failedCalls / calls }),
  };
}
