/** Rollouts with what the plain reward terms pay them. */
import { joinBatches, selectRows } from "../batch.ts";
import type { Batch, RewardColumn } from "../seams.ts";
import type { Draft } from "./assemble.ts";
import type { Place } from "./collect.ts";
import { joinColumns, selectColumn } from "./columns.ts";
import { writing } from "./decoding.ts";
import { dividedIn } from "./divide.ts";
import { rollOut } from "./generate.ts";
import { withRewardSpans } from "./rewardSpans.ts";
import { rewardContext } from "./session.ts";

export interface Paid {
  readonly batch: Batch;
  readonly columns: RewardColumn[];
}

/** Writes drafts and pays them; terms that wait for their learners pay later. */
export async function paid(place: Place, drafts: readonly Draft[]): Promise<Paid> {
  const { session, stage, clock, watch } = place;
  const written = await watch.time("generate", () => rollOut(session.policy, drafts, writing(place)));
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

/** Chosen rows of several lots as one, in the order given; rows whose groups have one name are one group. */
export function chosenRows(lots: readonly Paid[], chosen: readonly RowOf[]): Paid {
  const starts: number[] = [];
  let total = 0;
  for (const { batch } of lots) {
    starts.push(total);
    total += batch.rows;
  }
  const rows = chosen.map(({ lot, row }) => starts[lot]! + row);
  const whole = joinBatches(
    lots.map(({ batch }) => batch),
    lots.flatMap(({ batch }) => batch.records.map(({ group }) => group)),
  );
  const version = lots[0]?.batch.version;
  return {
    batch: { ...selectRows(whole, rows), ...(version !== undefined && { version }) },
    columns: joinColumns(lots.map(({ columns }) => columns)).map((column) => selectColumn(column, rows)),
  };
}
