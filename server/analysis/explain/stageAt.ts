import { UserError } from "../../../shared/lib/errors.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { placeAt, stepsInAll } from "../../config/build/stagePlan.ts";
import type { Clock } from "../../core/basics.ts";

interface StagePlace {
  readonly body: StageBody;
  readonly clock: Clock;
}

/**
 * Where a recorded step is in the config's stages: the rl stage that made it. Recorded steps count over the whole
 * run, those of other stages included; the clock that schedules read counts rl stages only.
 */
export function stageAt({ stages }: RunConfig, step: number): StagePlace {
  const all = stepsInAll(stages);
  const rl = (at: number): StagePlace | undefined => {
    const place = placeAt(stages, at);
    return place?.stage.kind === "rl" ? { body: place.stage.body, clock: place.clock } : undefined;
  };
  // A step of another stage counts as the first rl step after it.
  for (let at = Math.max(0, step); at < all; at++) {
    const place = rl(at);
    if (place !== undefined) return place;
  }
  // Past the end, steps go on counting from the last.
  for (let at = Math.min(step, all) - 1; at >= 0; at--) {
    const place = rl(at);
    if (place === undefined) continue;
    const { clock, body } = place;
    return { body, clock: { step: clock.step + step - at, stageStep: clock.stageStep + step - at } };
  }
  throw new UserError("the config has no rl stage: there is nothing to explain", {
    code: "no-rl-stage",
    action: "Add a stage of `kind: rl`, or leave `stages` out.",
  });
}
