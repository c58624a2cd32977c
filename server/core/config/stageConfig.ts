/** A stage as the run reads it. */
import type { StageKind } from "../../../shared/run/stageKinds.ts";
import type { Built } from "../blocks/field.ts";
import type { stageOptions } from "../blocks/stage.ts";
import type { StageBody } from "./resolved.ts";

/** So many steps in a row of another stage, by its place in the list. */
export interface Turn {
  readonly stage: number;
  readonly steps: number;
}

export interface StageConfig extends Built<typeof stageOptions> {
  readonly name: string;
  readonly kind: StageKind;
  /** At most; of a stage that others alternate, all its turns together. */
  readonly steps: number;
  readonly body: StageBody;
  /** alternate: whose turns they are. */
  readonly turns: readonly Turn[];
  /** Whether it runs only in the turns that another stage gives it. */
  readonly part: boolean;
}

type OnEnter = StageConfig["on_enter"];
/** Tasks of earlier stages among the prompts of this one. */
export type CarryOver = NonNullable<OnEnter["carryOver"]>;
/** How the stage passes over from the one before it. */
export type Crossfade = NonNullable<StageConfig["crossfade"]>;
