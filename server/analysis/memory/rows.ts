/** How many rows a stage writes and trains on at once. */
import { contextOf } from "../../algorithm/algorithm.ts";
import { create } from "../../core/create.ts";
import { helps } from "../../core/config/guidanceFacts.ts";
import type { Scheduled } from "../../core/schedule.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { AuxiliaryConfig, StageBody } from "../../core/config/resolved.ts";
import { randomStream } from "../../lib/random.ts";

export const ofPairs = ({ kind }: StageConfig): boolean => kind === "preference" || kind === "reward_model";

/** Rows of a step that are no rollouts; undefined where they are. */
export function ownRows(stage: StageConfig): number | undefined {
  if (stage.kind === "sft" || stage.kind === "pretrain") return stage.batch;
  if (stage.kind === "merge" || stage.kind === "alternate") return 1;
  return ofPairs(stage) && stage.pairs !== "rollouts" ? 2 * stage.batch : undefined;
}

/** Rollouts that a step trains on and may write at once: those of the groups, and the helped ones that join them. */
export function rollouts({ rollout, guidance }: StageBody): number {
  const joining = helps(guidance) && guidance.place === "append";
  return rollout.prompts * (rollout.group + (joining ? (guidance.rollouts ?? rollout.group) : 0));
}

const most = (value: Scheduled): number =>
  typeof value === "number" ? value : Math.max(value.from, value.to);

/** Rollouts of earlier steps that a step draws, where all of its own train. */
function replayed(body: StageBody): number {
  const { source, share, weight } = body.replay;
  const context = contextOf(body, { random: randomStream(0, "replay") });
  const made = create(source, context);
  if (made.kind === "none" || most(weight) === 0) return 0;
  if (made.kind === "window" && made.burst) return made.capacity;
  const part = most(share);
  return Math.round((rollouts(body) * part) / (1 - part));
}

/** Sequences that an auxiliary loss learns each time. */
function demonstrated({ loss, when }: AuxiliaryConfig, body: StageBody): number {
  const made = create(loss, contextOf(body, { random: randomStream(0, "auxiliary") }));
  if (made.kind !== "likelihood") return 0;
  return (when === "always" ? undefined : when.all_failed) ?? made.rows;
}

export interface TrainedRows {
  /** Rows of the largest optimiser step. */
  readonly most: number;
  /** Of the largest of those that no rollout of the step is in. */
  readonly alone: number;
}

/** What a step of rollouts trains on: its own, those of earlier steps, and what comes with them. */
export function trainedRows(body: StageBody): TrainedRows {
  const { place } = body.replay;
  const old = replayed(body);
  const cut = (rows: number): number => Math.min(body.update.mini_batch ?? Number.POSITIVE_INFINITY, rows);
  const rows = (where: AuxiliaryConfig["place"]): number[] =>
    body.auxiliary.flatMap((one) => (one.place === where ? [demonstrated(one, body)] : []));
  const joined = rows("joined").reduce((sum, one) => sum + one, place === "separate" ? old : 0);
  const own = cut(rollouts(body) + (place === "joint" ? old : 0));
  const alone = Math.max(0, place === "alone" ? cut(old) : 0, ...rows("alone"));
  return { most: Math.max(own + joined, alone), alone };
}
