/** Rollouts with what the plain reward terms pay them. */
import { joinBatches, selectRows } from "../../../core/rows/batch.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { DecodeOptions } from "../../../core/policy.ts";
import type { RewardColumn } from "../../../core/reward.ts";
import type { Draft } from "./assemble.ts";
import type { Place } from "../context.ts";
import { joinColumns, selectColumn } from "../columns.ts";
import { writing } from "./decoding.ts";
import { dividedIn } from "./divide.ts";
import { play } from "./episodes.ts";
import { outcomesOf } from "../outcomes.ts";
import { withRewardSpans } from "./rewardSpans.ts";
import { rewardContext } from "../../loop/session.ts";

export interface Paid {
  readonly batch: Batch;
  readonly columns: RewardColumn[];
}

/** The drafts' responses. */
export const write = (place: Place, drafts: readonly Draft[]): Promise<Batch> =>
  written(place, drafts, writing(place));

/** The same, written another way than the step's own rollouts. */
export function written(place: Place, drafts: readonly Draft[], decode: DecodeOptions): Promise<Batch> {
  const { session, stage, clock, watch } = place;
  const { algorithm, scorer, shape } = stage;
  const { rollout } = stage.config.body;
  const deciding = { algorithm, scorer, rollout, context: rewardContext(session, clock) };
  return watch.time("generate", () =>
    play(drafts, {
      policy: session.policy,
      decode,
      shape,
      asking: rollout,
      tries: "drawn",
      judge: async (batch) => (await outcomesOf(batch, "last", deciding)).success,
    }),
  );
}

/** Writes drafts and pays them. */
export const paid = async (place: Place, drafts: readonly Draft[]): Promise<Paid> =>
  pay(place, await write(place, drafts));

/** Pays what was written; terms that wait for their learners pay later. */
export async function pay(place: Place, written: Batch): Promise<Paid> {
  const { session, stage, clock, watch } = place;
  const divided = dividedIn(place, written);
  const batch = stage.algorithm.masked(divided);
  const context = rewardContext(session, clock);
  const columns = await watch.time("reward", () => stage.scorer.scorePlain(batch, context));
  // Masks may read what a reward found in the responses.
  const told = withRewardSpans(divided, columns, session.policy.tokenizer);
  return { batch: told === divided ? batch : stage.algorithm.masked(told), columns };
}

/** One row of one of several lots. */
export interface RowOf {
  readonly lot: number;
  readonly row: number;
}

/** Places among the rows of all lots, lot after lot. */
function placesAmong(lots: readonly Batch[], chosen: readonly RowOf[]): number[] {
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
  return { ...selectRows(whole, placesAmong(lots, chosen)), ...(version !== undefined && { version }) };
}

/** The same with what the rows were paid. */
export function chosenRows(lots: readonly Paid[], chosen: readonly RowOf[]): Paid {
  const batches = lots.map(({ batch }) => batch);
  const rows = placesAmong(batches, chosen);
  return {
    batch: chosenOf(batches, chosen),
    columns: joinColumns(lots.map(({ columns }) => columns)).map((column) => selectColumn(column, rows)),
  };
}
