/** Whether attempts were right, by the terms that decide it. */
import type { Algorithm } from "../../../algorithm/algorithm.ts";
import { attemptsIn, type Attempts } from "../../../algorithm/rewards/attempts.ts";
import type { StageBody } from "../../../core/config/resolved.ts";
import type { Scorer } from "../../../algorithm/rewards/scoring.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { RewardContext } from "../../../core/reward.ts";
import { divided } from "../generate/divide.ts";

/** What decides it. */
export interface Deciding {
  readonly algorithm: Algorithm;
  readonly scorer: Scorer;
  readonly rollout: StageBody["rollout"];
  readonly context: RewardContext;
}

/** Of each row's last attempt or of all of them, one after the other; see `outcome`. */
export async function outcomesOf(
  batch: Batch,
  which: "last" | "all",
  { algorithm, scorer, rollout, context }: Deciding,
): Promise<{ readonly of: Attempts["of"]; readonly success: Uint8Array }> {
  const whole = divided(batch, rollout, algorithm, context.tokenizer);
  const attempts = attemptsIn(whole, which);
  const columns = await scorer.scoreDeciding(attempts.batch, context);
  const { success } = algorithm.rewards(columns, attempts.batch, context.clock);
  return { of: attempts.of, success };
}
