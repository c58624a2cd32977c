import type { TokenLoss } from "../../../core/slots/guidance.ts";

/** −min(ρ A, clip(ρ) A), and for A < 0 at most the dual clip; no gradient where a bound acts. */
export const clippedLoss =
  ({
    low,
    high,
    dual,
  }: {
    readonly low: number;
    readonly high: number;
    readonly dual: number | null;
  }): TokenLoss =>
  ({ now, anchor, advantage }) => {
    if (advantage === 0) return { loss: 0, slope: 0 };
    const ratio = Math.exp(now - anchor);
    const most = advantage > 0 ? 1 + high : (dual ?? Number.POSITIVE_INFINITY);
    const least = advantage > 0 ? 0 : 1 - low;
    const used = Math.min(most, Math.max(least, ratio));
    return { loss: -used * advantage, slope: used === ratio ? -ratio * advantage : 0 };
  };
