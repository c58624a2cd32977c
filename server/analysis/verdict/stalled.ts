/** A run whose process lives and that makes no more steps. The only verdict that reads a clock. */
import { formatSeconds } from "../../../shared/lib/format.ts";
import type { VerdictBrief } from "../../../shared/run/verdict.ts";

/** Steps' times, and the least wait, in milliseconds, that count as standing still: an evaluation may take some. */
const [patience, least] = [10, 5 * 60_000];

/**
 * @param times when the last steps were recorded, in milliseconds, the newest first
 * @param heard when anything was recorded last, in milliseconds: a long evaluation reports how far it is
 */
export function stalledVerdict(
  {
    step,
    times,
    heard,
  }: { readonly step: number; readonly times: readonly number[]; readonly heard: number },
  now: number,
): VerdictBrief | null {
  const gaps = times.slice(1).map((time, i) => times[i]! - time);
  const usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 1];
  if (usual === undefined) return null;
  const waited = now - Math.max(heard, times[0]!);
  if (waited <= Math.max(patience * usual, least)) return null;
  const since = formatSeconds(waited / 1000);
  return {
    state: "stalled",
    label: `no step for ${since}`,
    since: step,
    headline: `Stalled: nothing was recorded for ${since} after step ${step}, where a step takes ${formatSeconds(usual / 1000)}.`,
  };
}
