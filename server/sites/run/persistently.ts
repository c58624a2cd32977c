/** Asking a site until it answers: a laptop that sleeps, a host that restarts. */
import { setTimeout as wait } from "node:timers/promises";
import { UserError } from "../../../shared/lib/errors.ts";

/** Milliseconds until it is asked again: doubled each time. */
const [firstWait, longestWait] = [1_000, 60_000];

/**
 * @param lost called once, where the site does not answer
 * @returns undefined: the signal came first
 * @throws what asking again does not help against
 */
export async function persistently<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal,
  lost: (error: UserError) => void,
): Promise<Answer | undefined> {
  for (let next = firstWait, said = false; !signal.aborted; next = Math.min(2 * next, longestWait)) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof UserError) || error.detail.code !== "site-unreachable") throw error;
      if (!said) lost(error);
      said = true;
    }
    await wait(next, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
