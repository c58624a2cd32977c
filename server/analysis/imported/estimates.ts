/** The advantages that a config gives imported rollouts: by the same chain as `gradus explain`. */
import { UserError } from "../../../shared/lib/errors.ts";
import { toWire, type MaybeNumber, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { outcome } from "../../algorithm/rewards/rewards.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { StepExplainer } from "../explain/explain.ts";
import { remembers } from "../explain/memory.ts";
import { RecordedStep } from "../explain/recordedStep.ts";
import { rowAdvantage } from "../explain/rowAdvantage.ts";
import { wholeRewards } from "./wholeRewards.ts";

export type Estimates =
  | {
      readonly kind: "estimated";
      readonly advantages: readonly MaybeNumber[];
      /** Which rollouts succeed by `reward.success`. */
      readonly success: readonly boolean[];
    }
  /** Why there are none, as a sentence. */
  | { readonly kind: "none"; readonly reason: string };

/** @param rows of one step @param file to name in errors */
export function estimatesOf(config: RunConfig, rows: readonly RolloutRow[], file: string): Estimates {
  if (rows.length === 0) return { kind: "estimated", advantages: [], success: [] };
  try {
    const step = new RecordedStep(
      config,
      wholeRewards(config, rows).map((row, line) => ({ row, place: { file, line } })),
    );
    if (remembers(step.algorithm))
      return {
        kind: "none",
        reason: `\`advantage.baseline: ${baselineOf(config)}\` remembers earlier steps, and a step is read alone`,
      };
    const { level } = step.body.advantage;
    if (level !== "auto" && level !== "response")
      return {
        kind: "none",
        reason: `\`advantage.level: ${level}\` needs tokens, and the rollouts have none`,
      };
    const { scored, advantages: found } = new StepExplainer(step).solve(true, false);
    const advantages = rows.map((_, row) => {
      const advantage = rowAdvantage(found, step.batch, row);
      return Number.isNaN(advantage) ? null : toWire(advantage);
    });
    if (advantages.every((advantage) => advantage === null))
      return { kind: "none", reason: "the config's advantages need more than texts and rewards" };
    return {
      kind: "estimated",
      advantages,
      success: Array.from(scored.success, (one) => one === outcome.right),
    };
  } catch (error) {
    if (error instanceof UserError) return { kind: "none", reason: error.message };
    throw error;
  }
}

/** How a config's advantages are called: the algorithm whose they are, else baseline and scale. */
export function estimatorOf(config: RunConfig): string {
  const { baseline, scale } = config.top.advantage;
  const name = `${baseline.declaration.name} ${scale.declaration.name}`;
  return algorithms[name] ?? name.replace(" ", " and ");
}

const algorithms: Readonly<Record<string, string>> = {
  "group_mean group_std": "grpo",
  "group_mean none": "dr_grpo",
  "leave_one_out none": "rloo",
};

const baselineOf = ({ top }: RunConfig): string => top.advantage.baseline.declaration.name;
