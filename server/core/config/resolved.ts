/** A config after `extends`, `--set`, defaults and stage overrides: what the run, `explain` and the editor read. */
import type { body } from "../blocks/body.ts";
import type { Built } from "../blocks/field.ts";
import type { RateSchedule } from "../blocks/learningRate.ts";

type Blocks = Built<typeof body>;

/** Everything that a stage may override, overrides applied. */
export interface StageBody extends Omit<Blocks, "update"> {
  readonly update: Omit<Blocks["update"], "schedule"> & {
    /** Laid out over the run, or over the stage that wrote it. */
    readonly schedule: RateSchedule;
  };
}

export type TaskConfig = StageBody["tasks"][number];
export type GenerateConfig = NonNullable<TaskConfig["generate"]>;
export type RewardTermConfig = StageBody["reward"]["terms"][number];
export type GuidanceConfig = StageBody["guidance"];
export type AdvantageConfig = StageBody["advantage"];
export type KlConfig = StageBody["kl"][number];
export type RouteConfig = StageBody["route"][number];
export type ReplayConfig = StageBody["replay"];
export type AuxiliaryConfig = StageBody["auxiliary"][number];
