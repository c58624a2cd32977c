/** What an editor asks about a config: its last run, its stages, what an edit would have changed. */
import { z } from "zod";
import type { Json } from "../lib/json.ts";
import type { RewardCoverage } from "../rollouts/coverage.ts";
import type { Rescored, Sweep } from "../rollouts/rescore.ts";
import { request } from "./descriptor.ts";
import { edited, path, run } from "./parameters.ts";
import type { ArmTurnover } from "../run/turnover.ts";
import type { RunSummary } from "./runs.ts";

export interface ConfigLens {
  readonly uri: string;
  readonly line: number;
  readonly lastRun: RunSummary | null;
}
/** The last run of a config file, for its lens. */
export const configLens = request<ConfigLens>()("gradus/config/lens", z.object({ uri: z.string() }));

/** An edit of a config's text. */
export interface StageSteps {
  readonly file: string;
  readonly range: {
    readonly start: { readonly line: number; readonly character: number };
    readonly end: { readonly line: number; readonly character: number };
  };
  readonly newText: string;
}
/** How a stage of a run gets another number of steps in its config; refused where the text is not the run's any more. */
export const stageSteps = request<StageSteps>()(
  "gradus/config/stageSteps",
  run.extend({
    text: z.string(),
    stage: z.string(),
    /** As the run had it. */
    was: z.number().int().positive(),
    steps: z.number().int().positive(),
  }),
);

const json: z.ZodType<Json, Json> = z.json();
/** The text of a config with values set, as `--set` addresses them; refused where it gives no safe place for one. */
export const configSet = request<{ readonly text: string }>()(
  "gradus/config/set",
  z.object({
    file: path,
    text: z.string(),
    set: z.array(z.object({ path: z.string(), value: json })).min(1),
  }),
);

/** A config with stages that practise what a run forgot. */
export interface ConfigReview {
  readonly text: string;
  /** The one that the others take turns in: its name, and its steps. */
  readonly stage: string;
  readonly steps: number;
  /** The arms that every other of these steps draws from: those of which the run forgot most. */
  readonly arms: readonly ArmTurnover[];
  /** What it does, in sentences. */
  readonly message: string;
}
/**
 * Stages at the end that draw more of the arms of which a run forgot most, whose other tasks train; refused where nothing is
 * forgotten, where no arm lost more than the others, or where the text gives no safe place for a stage.
 */
export const configReview = request<ConfigReview>()("gradus/config/review", run.extend({ text: z.string() }));

/** What a config's edits would have changed over the rollouts of its last run; null where it has none. */
export const rescore = request<{ readonly rescored: Rescored | null }>()(
  "gradus/rescore",
  edited.extend({
    /** The last step only, or as many of the run's as two seconds allow. */
    scope: z.enum(["step", "run"]).default("step"),
  }),
);
/** What a term's weight would change, over a range: 0 to twice the weight, where none is given. */
export const rescoreSweep = request<{ readonly sweep: Sweep | null }>()(
  "gradus/rescore/sweep",
  edited.extend({ term: z.string(), from: z.number().optional(), to: z.number().optional() }),
);
/**
 * Which lines and branches of a config's own reward functions the rollouts of its last run reach, the newest first as
 * far as a few seconds allow; null where it has none. Refused where functions of the workspace may not be run.
 */
export const rewardCoverage = request<{ readonly coverage: RewardCoverage | null }>()(
  "gradus/reward/coverage",
  edited,
);
