/** A step's responses, as the policy generates them now. */
import type { Batch } from "../../../core/rollouts.ts";
import type { DecodeOptions } from "../../../core/policy.ts";
import type { StepContext } from "../context.ts";
import { rewardContext } from "../../loop/session.ts";
import { outcomesOf } from "../score/outcomes.ts";
import type { Draft } from "./assemble.ts";
import { stepDecoding } from "./decoding.ts";
import { play } from "./episodes.ts";

/** The drafts' responses. */
export const generate = (context: StepContext, drafts: readonly Draft[]): Promise<Batch> =>
  generateWith(context, drafts, stepDecoding(context), true);

/** The same, decoded in another way than the step's own rollouts. */
export function generateWith(
  context: StepContext,
  drafts: readonly Draft[],
  decode: DecodeOptions,
  parts = false,
): Promise<Batch> {
  const { session, stage, clock, watch } = context;
  const { algorithm, scorer, shape, hosts, harness } = stage;
  const { rollout } = stage.config.body;
  const deciding = { algorithm, scorer, rollout, context: rewardContext(session, clock) };
  return watch.time("generate", () =>
    play(drafts, {
      policy: session.policy,
      decode,
      shape,
      hosts,
      clock,
      parts,
      harness,
      keepStates: stage.start.observe !== undefined,
      asking: rollout,
      tries: "drawn",
      judge: async (batch) => (await outcomesOf(batch, "last", deciding)).success,
    }),
  );
}
