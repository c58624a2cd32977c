/** Which of a config's curricula a simulation plays, and how long. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";

const mostSteps = 200;

/** @throws UserError where nothing is drawn */
export function simulatedStage({ stages }: Pick<RunConfig, "stages">): {
  readonly stage: StageConfig;
  /** Where nobody says how many. */
  readonly steps: number;
} {
  const stage = stages.find(({ kind }) => kind === "rl");
  if (stage === undefined)
    throw new UserError("the config has no rl stage, so its curriculum draws nothing", {
      code: "no-rl-stage",
      action: "Add a stage of `kind: rl`, or leave `stages` out.",
    });
  return { stage, steps: Math.min(stage.steps, mostSteps) };
}
