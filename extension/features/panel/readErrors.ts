/** What went wrong in a run, as the panel tells it. */
import { eventsQuery, rewardErrors } from "../../../shared/protocol.ts";
import type { PanelFailures } from "../../../shared/runPanel.ts";
import type { Asker } from "../connection/asker.ts";

export const noFailures: PanelFailures = { failures: [], kinds: 0, failed: {}, rollouts: 0 };

/**
 * Errors that are of no reward term, and what reward terms failed with.
 * A daemon of an earlier version does not know the question about rewards: it tells of their errors as events alone.
 */
export async function readErrors(source: Asker, run: string): Promise<readonly [number, PanelFailures]> {
  const [{ events }, failures] = await Promise.all([
    source.ask(eventsQuery, { run }),
    askFailures(source, run).catch(() => noFailures),
  ]);
  const own = events.filter(({ severity, name }) => severity === "error" && name !== "reward-error");
  return [own.length, failures];
}

async function askFailures(source: Asker, run: string): Promise<PanelFailures> {
  const { failures, kinds, failed, rollouts } = await source.ask(rewardErrors, { run });
  return { failures, kinds, failed, rollouts };
}
