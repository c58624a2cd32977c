/** What all drafts share that a step trains on. */
import type { StepContext } from "../context.ts";
import type { Drafting } from "./generate.ts";

export const draftingOf = ({ session, stage, step }: StepContext): Drafting => ({
  policy: session.policy,
  key: ["rollout", step],
  use: "train",
  asking: stage.config.body.rollout,
});
