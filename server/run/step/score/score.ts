/** Rollouts, generated and scored by the reward terms that need no learner. */
import { joinBatches } from "../../../core/rows/joinBatches.ts";
import { selectRows } from "../../../core/rows/batch.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Draft } from "../generate/assemble.ts";
import type { Scored, StepContext } from "../context.ts";
import { joinColumns, selectColumn } from "./rewardColumns.ts";
import { dividedIn } from "../generate/divide.ts";
import { withRewardSpans } from "./rewardSpans.ts";
import { rewardContext } from "../../loop/session.ts";
import { generate } from "../generate/stepRollouts.ts";

/** Generates the drafts' responses and scores them. */
export const generateAndScore = async (context: StepContext, drafts: readonly Draft[]): Promise<Scored> =>
  score(context, await generate(context, drafts));

/** Scores generated rollouts; terms that wait for their learners score later. */
export async function score(context: StepContext, generated: Batch): Promise<Scored> {
  const { session, stage, clock, watch } = context;
  const divided = dividedIn(context, generated);
  const batch = stage.algorithm.masked(divided);
  const columns = await watch.time("reward", () =>
    stage.scorer.scorePlain(batch, rewardContext(session, clock)),
  );
  // Masks may read what a reward found in the responses.
  const spanned = withRewardSpans(divided, columns, session.policy.tokenizer);
  return { batch: spanned === divided ? batch : stage.algorithm.masked(spanned), columns };
}

/** One row of one of several lots. */
export interface RowOf {
  readonly lot: number;
  readonly row: number;
}

/** Indices among the rows of all lots, lot after lot. */
function indicesAmong(lots: readonly Batch[], chosen: readonly RowOf[]): number[] {
  const starts: number[] = [];
  let total = 0;
  for (const { rows } of lots) {
    starts.push(total);
    total += rows;
  }
  return chosen.map(({ lot, row }) => starts[lot]! + row);
}

/** Chosen rows of several lots as one, in the order given; rows whose groups have one name are one group. */
export function chosenOf(lots: readonly Batch[], chosen: readonly RowOf[]): Batch {
  const whole = joinBatches(
    lots,
    lots.flatMap(({ records }) => records.map(({ group }) => group)),
  );
  const version = lots[0]?.version;
  return { ...selectRows(whole, indicesAmong(lots, chosen)), ...(version !== undefined && { version }) };
}

/** The same with the rows' rewards. */
export function chosenRows(lots: readonly Scored[], chosen: readonly RowOf[]): Scored {
  const batches = lots.map(({ batch }) => batch);
  const rows = indicesAmong(batches, chosen);
  return {
    batch: chosenOf(batches, chosen),
    columns: joinColumns(lots.map(({ columns }) => columns)).map((column) => selectColumn(column, rows)),
  };
}
