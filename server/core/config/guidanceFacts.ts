/** What follows from a guidance block, for rules. */
import type { Offers } from "../declaration.ts";
import type { GuidanceConfig, StageBody } from "./resolved.ts";

export const helps = ({ trigger }: GuidanceConfig): boolean => trigger.declaration.name !== "none";

/** What the source gives. */
export const givenBy = ({ source }: GuidanceConfig): Offers =>
  source.declaration.offers?.(source.params) ?? { place: "prompt", divisible: false };

/** Whether the objective has a ratio to what wrote the tokens, which the guidance's can replace. */
export const hasRatio = ({ loss }: StageBody["objective"]): boolean =>
  "ratio" in loss.declaration.params.shape && (loss.params["anchor"] ?? "behaviour") === "behaviour";

/** Whether tokens that were given train, before masks. */
export const givenTrains = (guidance: GuidanceConfig): boolean =>
  guidance.trains === "given" ||
  guidance.trains === "all" ||
  (guidance.trains === "auto" && givenBy(guidance).whole === true);
