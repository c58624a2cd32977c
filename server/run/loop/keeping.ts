/** Whether what was trained since the last evaluation stays, by what an evaluation says (`evaluation.keep`). */
import { z } from "zod";
import type { RunConfig } from "../../core/config/runConfig.ts";

/** The last evaluation that kept its weights. */
export const keptSchema = z.object({
  /** Steps done when it was taken: what its weights are called by. */
  done: z.number().int(),
  /** Of the metric that decides. */
  value: z.number(),
  /** Steps done at the latest evaluation, whether it kept its weights or not. */
  compared: z.number().int(),
});
export type Kept = z.output<typeof keptSchema>;

type Decision =
  | { readonly kind: "keep"; readonly kept: Kept }
  | {
      readonly kind: "undo";
      readonly kept: Kept;
      /** How many are undone. */
      readonly steps: number;
      readonly message: string;
    };

/** undefined where nothing is asked for, nothing was trained since, or the evaluation has no such value. */
export function decide(
  wish: RunConfig["evaluation"]["keep"],
  metrics: Readonly<Record<string, number>>,
  done: number,
  kept: Kept | null,
): Decision | undefined {
  const value = wish === undefined ? undefined : metrics[wish.metric];
  if (wish === undefined || value === undefined || Number.isNaN(value)) return undefined;
  if (kept === null) return { kind: "keep", kept: { done, value, compared: done } };
  const steps = done - kept.compared;
  if (steps === 0) return undefined;
  const gain = wish.mode === "max" ? value - kept.value : kept.value - value;
  if (gain >= wish.gain) return { kind: "keep", kept: { done, value, compared: done } };
  return {
    kind: "undo",
    kept: { ...kept, compared: done },
    steps,
    message: `${undone(done, steps)} undone: ${wish.metric} is ${short(value)}, where ${bound(wish, kept.value)} keeps them. The policy and its optimiser are as they were ${kept.done === 0 ? "before the first step" : `after step ${kept.done - 1}`}.`,
  };
}

const short = (value: number): string => String(Number(value.toPrecision(4)));
const undone = (done: number, steps: number): string =>
  steps === 1 ? `Step ${done - 1} is` : `Steps ${done - steps} to ${done - 1} are`;
const bound = ({ mode, gain }: NonNullable<RunConfig["evaluation"]["keep"]>, value: number): string =>
  mode === "max" ? `${short(value + gain)} or more` : `${short(value - gain)} or less`;
