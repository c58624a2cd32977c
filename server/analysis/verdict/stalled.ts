/** A run whose process lives and that makes no more steps. The only verdict that reads a clock. */
import { formatSeconds } from "../../../shared/lib/format.ts";
import type { VerdictBrief } from "../../../shared/run/verdict.ts";
import { paceOf, stillAfter } from "./pace.ts";

interface Recorded {
  readonly step: number;
  /** When the last steps were written, in milliseconds, the newest first. */
  readonly times: readonly number[];
  /** What the trainer says that they took, in milliseconds. */
  readonly clocks?: readonly number[];
  /** When anything was recorded last, in milliseconds: a long evaluation reports how far it is. */
  readonly heard: number;
}

export function stalledVerdict(
  { step, times, clocks = [], heard }: Recorded,
  now: number,
): VerdictBrief | null {
  const pace = paceOf(times, clocks);
  if (pace === null) return null;
  const waited = now - Math.max(heard, times[0] ?? now);
  if (waited <= stillAfter(pace)) return null;
  const since = formatSeconds(waited / 1000);
  return {
    state: "stalled",
    label: `no step for ${since}`,
    since: step,
    headline: `Stalled: nothing was recorded for ${since} after step ${step}, where a step takes ${formatSeconds(pace.usual / 1000)}.`,
  };
}
