import { UserError } from "../../shared/errors.ts";
import type { RunConfig, StageBody } from "../config/resolved.ts";
import type { Clock } from "../seams.ts";

export interface StagePlace {
  readonly body: StageBody;
  readonly clock: Clock;
}

/**
 * Where a recorded step stands in the config's stages: the rl stage that made it. Recorded steps count over the whole
 * run, sft stages included; the clock that schedules read counts rl stages only.
 */
export function stageAt({ stages }: RunConfig, step: number): StagePlace {
  let [start, rl] = [0, 0];
  let found: StagePlace | undefined;
  for (const stage of stages) {
    if (stage.kind === "rl") {
      const stageStep = Math.max(0, step - start);
      found = { body: stage.body, clock: { step: rl + stageStep, stageStep } };
      if (step < start + stage.steps) return found;
      rl += stage.steps;
    }
    start += stage.steps;
  }
  if (found === undefined) {
    throw new UserError("the config has no rl stage: there is nothing to explain", {
      code: "no-rl-stage",
      action: "Add a stage of `kind: rl`, or leave `stages` out.",
    });
  }
  return found;
}
