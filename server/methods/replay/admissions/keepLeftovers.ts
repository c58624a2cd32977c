import { z } from "zod";
import { replayAdmission } from "../../../core/declaration.ts";

export const keepLeftovers = replayAdmission({
  name: "leftovers",
  summary:
    "Keeps what `replay.select` left out of its own step's batch, for compensation batches (`place: alone`, `every`).",
  sources: [
    "RoRecomp: Enhancing Reasoning Efficiency via Rollout Response Recomposition in Reinforcement Learning",
  ],
  params: z.object({}),
  create:
    () =>
    ({ left }) =>
      left,
});
