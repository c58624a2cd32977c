/** Which stage the next step is of. Only steps that draw tasks count: other stages are not this trainer's. */
import { z } from "zod";
import { ends, seenWith } from "../../../algorithm/curriculum/until.ts";
import { turnAt } from "../../../config/build/stagePlan.ts";
import type { Clock } from "../../../core/basics.ts";
import type { StageConfig } from "../../../core/config/stageConfig.ts";

export const cursorSchema = z.object({
  /** Place of the stage that is due; that of an alternation, whoever's turn it is. */
  stage: z.number().int(),
  stageStep: z.number().int(),
  /** Steps so far. */
  rl: z.number().int(),
  /** What `until` has seen of its metrics in this stage. */
  history: z.record(z.string(), z.array(z.number()).readonly()),
});
export type StageCursor = z.output<typeof cursorSchema>;

export const firstCursor: StageCursor = { stage: 0, stageStep: 0, rl: 0, history: {} };

export interface StageMoment {
  /** Places of the stage that draws, and of the one whose steps are counted: an alternation's differ. */
  readonly index: number;
  readonly holder: number;
  readonly clock: Clock;
}

const draws = (stage: StageConfig, stages: readonly StageConfig[]): boolean =>
  stage.kind === "rl" || stage.turns.some((turn) => stages[turn.stage]!.kind === "rl");

const isOver = ({ steps, until }: StageConfig, { stageStep, history }: StageCursor): boolean =>
  stageStep >= steps || (until !== undefined && ends(until, history));

/** Where the next step is, and the cursor behind it. After the last stage that one goes on. */
export function nextMoment(
  stages: readonly StageConfig[],
  cursor: StageCursor,
): { readonly moment: StageMoment; readonly after: StageCursor } {
  let at = cursor;
  for (let stage = stages[at.stage]; stage !== undefined; stage = stages[at.stage]) {
    if (stage.part || !draws(stage, stages) || isOver(stage, at)) {
      at = { ...at, stage: at.stage + 1, stageStep: 0, history: {} };
      continue;
    }
    const turn = stage.kind === "alternate" ? turnAt(stage.turns, at.stageStep) : undefined;
    const index = turn?.stage ?? at.stage;
    if (stages[index]!.kind === "rl") {
      const clock = { step: at.rl, stageStep: turn?.before ?? at.stageStep };
      return { moment: { index, holder: at.stage, clock }, after: advanced(at) };
    }
    at = { ...at, stageStep: at.stageStep + 1 };
  }
  const index = stages.findLastIndex(({ kind }) => kind === "rl");
  const clock = { step: at.rl, stageStep: stages[index]!.steps + at.stageStep };
  return { moment: { index, holder: at.stage, clock }, after: advanced(at) };
}

const advanced = (at: StageCursor): StageCursor => ({ ...at, stageStep: at.stageStep + 1, rl: at.rl + 1 });

/** With what a step has shown. What came of a stage that has ended meanwhile says nothing of the present one. */
export function cursorWith(
  stages: readonly StageConfig[],
  cursor: StageCursor,
  holder: number,
  metrics: Readonly<Record<string, number>>,
): StageCursor {
  const until = stages[holder]?.until;
  if (until === undefined || cursor.stage !== holder) return cursor;
  return { ...cursor, history: seenWith(until, cursor.history, metrics) };
}
