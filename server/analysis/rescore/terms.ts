/** Where each term's values come from when rollouts are scored again: the record, a computation, or nowhere. */
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../../../shared/lib/errors.ts";
import { contextOf } from "../../algorithm/algorithm.ts";
import { columnOf, applies } from "../../algorithm/rewards/rewards.ts";
import { create } from "../../core/create.ts";
import { selectRows } from "../../core/rows/batch.ts";
import { keyedRandom } from "../../core/config/keyedRandom.ts";
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { recordedValue } from "../recorded.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { RewardColumn } from "../../core/reward.ts";
import { noModels, noTokenizer } from "./noModels.ts";
import type { StoredStep } from "./storedStep.ts";
import type { UserTerm } from "./userTerm.ts";

export const keeps = (term: string, reason: string): string =>
  `\`${term}\` keeps its recorded values: ${reason.replace(/\.$/, "")}.`;

const none: TermValue = { kind: "none" };

/** A term of the config as it is now. */
export type TermSource =
  | { readonly kind: "recorded" }
  /** A method of ours: computed here. */
  | { readonly kind: "computed"; readonly key: string }
  | { readonly kind: "user"; readonly key: string; readonly user: UserTerm }
  /** The recorded values stay, where there are any. */
  | { readonly kind: "unavailable"; readonly reason: string };

/** The same method with the same parameters on the same tasks; what a file of the user's says is not looked at. */
export const sameTerm = (one: RewardTermConfig, other: RewardTermConfig): boolean =>
  one.term.declaration.name === other.term.declaration.name &&
  one.term.folder === other.term.folder &&
  isDeepStrictEqual(one.term.params, other.term.params) &&
  isDeepStrictEqual(one.tasks, other.tasks);

export const keyOf = ({ name, tasks, term }: RewardTermConfig, version: string): string =>
  JSON.stringify([name, tasks ?? null, term.declaration.name, term.folder, term.params, version]);

export function recordedColumn(name: string, { rows }: StoredStep, batch: Batch): RewardColumn {
  return columnOf(
    name,
    rows.map((row) => recordedValue(row, name)),
    batch,
  );
}

interface ScoringContext {
  readonly body: StageBody;
  readonly clock: Clock;
  readonly batch: Batch;
  readonly signal: AbortSignal;
}

/** A term's values on a step's rollouts, on those that the config sends to it. */
export async function computedColumn(
  config: RewardTermConfig,
  source: Extract<TermSource, { kind: "computed" | "user" }>,
  place: ScoringContext,
): Promise<RewardColumn> {
  const { batch } = place;
  const rows = [...batch.records.keys()].filter((row) => applies(config, batch.records[row]!.task.source));
  const scored = await scoredRows(config, source, place, rows);
  const values: TermValue[] = Array.from({ length: batch.rows }, () => none);
  rows.forEach(
    (row, i) => (values[row] = scored[i] ?? { kind: "error", message: "the term gave no result" }),
  );
  return columnOf(config.name, values, batch);
}

async function scoredRows(
  config: RewardTermConfig,
  source: Extract<TermSource, { kind: "computed" | "user" }>,
  { body, clock, batch, signal }: ScoringContext,
  rows: readonly number[],
): Promise<readonly TermValue[]> {
  if (rows.length === 0) return [];
  if (source.kind === "user") return source.user.score(batch, rows, clock.step, signal);
  const context = contextOf(body, { random: keyedRandom("rescore"), models: noModels });
  const term = create(config.term, context, config.name);
  try {
    await term.prepare?.();
    if (term.learners !== undefined && term.learners.length > 0)
      throw new UserError("a model that trains during the run scores it", { code: "rescore-model" });
    return await term.score(rows.length === batch.rows ? batch : selectRows(batch, rows), {
      models: noModels,
      tokenizer: noTokenizer,
      clock,
      signal,
    });
  } finally {
    await term.close?.();
  }
}
