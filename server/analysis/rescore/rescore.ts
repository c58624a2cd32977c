/** Recorded rollouts scored again by the config's reward as it is now. Needs neither daemon nor store nor model. */
import type { Clock } from "../../core/basics.ts";
import type { CreateContext } from "../../core/declaration.ts";
import { Algorithm, contextOf } from "../../algorithm/algorithm.ts";
import { type Scores, columnOf, rowValue } from "../../algorithm/rewards/rewards.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { decidingOrder } from "../../core/config/termFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { componentsOf } from "../../algorithm/rewards/components.ts";
import { detailsOf } from "../../algorithm/rewards/criteria.ts";
import { batchWithData } from "../imported/withData.ts";
import { batchOfRows, recordedValue, type RecordedRow } from "../recorded.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { fromWire, type RolloutRow, type WireNumber } from "../../../shared/rollouts/rollouts.ts";
import { Scorer } from "../../algorithm/rewards/scoring.ts";
import { stageAt } from "../explain/stageAt.ts";
import type { TermDetails } from "../../../shared/rollouts/criteria.ts";
import { noModels, noTokenizer } from "./noModels.ts";
import { keeps } from "./terms.ts";
import type { RescoredPart } from "./rescoredPart.ts";
import { RescoreTally, wireOrNull, type RescoredSummary } from "./rescoreTally.ts";
import type { Random } from "../../lib/random.ts";
import type { Batch } from "../../core/rollouts.ts";
import { status, type RewardColumn } from "../../core/reward.ts";

export interface RescoredRollout {
  readonly type: "rollout";
  readonly step: number;
  readonly group: string;
  readonly index: number;
  readonly rewards: Readonly<Record<string, WireNumber | null>>;
  readonly errors: Readonly<Record<string, string>>;
  /** By term, what it says now of each criterion, where it judges by such. */
  readonly details?: Readonly<Record<string, TermDetails>>;
  /** By term, numbers that it gives next to its value. */
  readonly components?: RolloutRow["components"];
  readonly reward: WireNumber | null;
  /** As recorded; null where it was not. */
  readonly before: WireNumber | null;
}
export type Rescored = RescoredRollout | RescoredSummary;

function recordedTerms(body: StageBody, rows: readonly RolloutRow[], batch: Batch): RewardColumn[] {
  return body.reward.terms.map(({ name }) =>
    columnOf(
      name,
      rows.map((row) => recordedValue(row, name)),
      batch,
    ),
  );
}

/** The total as recorded: from `reward`, else from the terms as this config weighs them. */
function recordedTotals(rows: readonly RolloutRow[], scored: Scores): number[] {
  return rows.map((row, i) => {
    if (row.reward !== undefined) return fromWire(row.reward);
    return scored.combined.errored[i] === 1 ? Number.NaN : scored.combined.total[i]!;
  });
}

/** By term; without one it keeps its recorded values. */
type TermScorers = Map<string, Scorer>;

const termScorers = ({ reward }: StageBody, context: CreateContext): TermScorers =>
  new Map(reward.terms.map((term) => [term.name, new Scorer(reward, context, term.name)] as const));

/** Loads a term's function. One that is not there costs its own term alone, where others can be scored. */
async function prepared(name: string, scorer: Scorer, own: TermScorers, notes: Set<string>): Promise<void> {
  try {
    await scorer.prepare();
  } catch (error) {
    if (!(error instanceof UserError) || own.size === 1) throw error;
    await scorer.close();
    own.delete(name);
    notes.add(keeps(name, error.message));
  }
}

/** A term that is computed from tokens keeps its recorded values where no tokens were recorded. */
async function scoredOrKept(
  scorer: Scorer | undefined,
  recorded: RewardColumn,
  batch: Batch,
  clock: Clock,
  notes: Set<string>,
): Promise<RewardColumn> {
  if (scorer === undefined) return recorded;
  try {
    const [column] = await scorer.score(batch, { models: noModels, tokenizer: noTokenizer, clock });
    return column ?? recorded;
  } catch (error) {
    if (!(error instanceof UserError) || error.detail.code !== "rescore-tokens") throw error;
    notes.add(keeps(recorded.name, error.message));
    return recorded;
  }
}

/** What says of a success: the record, where there is one. A new reward that is tried does not judge itself. */
function decides(now: RewardColumn, was: RewardColumn, candidates: ReadonlySet<string>): RewardColumn {
  if (candidates.has(now.name)) return { ...now, status: now.status.map(() => status.none) };
  return was.status.some((one) => one !== status.none) ? was : now;
}

/** Terms that decide of some row whether it is a success: the first that applies to it. */
function decidersOf({ reward }: StageBody, columns: readonly RewardColumn[], rows: number): string[] {
  const order = decidingOrder(reward).map((term) => columns[reward.terms.indexOf(term)]!);
  const found = Array.from({ length: rows }, (_, row) =>
    order.find((column) => column.status[row] !== status.none),
  );
  return [...new Set(found.flatMap((column) => column?.name ?? []))];
}

async function rescorePart(
  config: RunConfig,
  rows: readonly RolloutRow[],
  scorers: Map<StageBody, TermScorers>,
  random: Random,
  notes: Set<string>,
  candidates: ReadonlySet<string>,
): Promise<RescoredPart> {
  const { body, clock } = stageAt(config, rows[0]!.step);
  const context = contextOf(body, { random, models: noModels });
  const own = scorers.get(body) ?? termScorers(body, context);
  if (!scorers.has(body)) {
    scorers.set(body, own);
    for (const [name, scorer] of own) await prepared(name, scorer, own, notes);
  }
  const batch = batchWithData(batchOfRows(rows, body.tasks), body.tasks);
  const recorded = recordedTerms(body, rows, batch);
  const columns = await Promise.all(
    recorded.map((was) => scoredOrKept(own.get(was.name), was, batch, clock, notes)),
  );
  const algorithm = new Algorithm(body, context);
  const scored = algorithm.rewards(columns, batch, clock);
  const deciding = columns.map((column, i) => decides(column, recorded[i]!, candidates));
  const now = Array.from(scored.combined.total, (total, i) =>
    scored.combined.errored[i] === 1 ? Number.NaN : total,
  );
  return {
    rows,
    columns,
    recorded,
    success: algorithm.rewards(deciding, batch, clock).success,
    deciders: decidersOf(body, deciding, rows.length),
    now,
    before: recordedTotals(rows, algorithm.rewards(recorded, batch, clock)),
  };
}

const rollout = ({ rows, columns, now, before }: RescoredPart, i: number): RescoredRollout => ({
  type: "rollout",
  step: rows[i]!.step,
  group: rows[i]!.group,
  index: rows[i]!.index,
  rewards: Object.fromEntries(
    columns
      .filter((column) => column.status[i] !== status.error)
      .map((column) => [column.name, wireOrNull(rowValue(column, i))]),
  ),
  errors: Object.fromEntries(
    columns.flatMap((column) => (column.errors.has(i) ? [[column.name, column.errors.get(i)!]] : [])),
  ),
  ...detailsOf(columns, i),
  ...componentsOf(columns, i),
  reward: wireOrNull(now[i]!),
  before: wireOrNull(before[i]!),
});

/** @throws UserError where a rollout has no text to score */
export function withResponse({ row, place }: RecordedRow): RolloutRow {
  if (row.response !== undefined) return row;
  throw new UserError('the rollout has no "response": there is nothing to score', {
    ...place,
    character: 0,
    code: "rescore-response",
    action: "Record the response's text with each rollout.",
  });
}

/** Scores steps again as they come, and sums up what has changed: only the sums are kept. */
export class Rescoring {
  private readonly scorers = new Map<StageBody, TermScorers>();
  private readonly found = new Set<string>();
  private readonly tally: RescoreTally;

  /** @param candidates terms of the config that are tried: they decide no success */
  constructor(
    private readonly config: RunConfig,
    private readonly random: Random,
    private readonly candidates: ReadonlySet<string> = new Set(),
  ) {
    this.tally = new RescoreTally(config.seed, candidates);
  }

  /** Every rollout of `recorded`, in order of the steps. @throws UserError where one has no response */
  async *rollouts(recorded: readonly RecordedRow[]): AsyncGenerator<RescoredRollout> {
    for (const rows of stepsOf(recorded)) {
      const part = await rescorePart(
        this.config,
        rows,
        this.scorers,
        this.random,
        this.found,
        this.candidates,
      );
      this.tally.add(part);
      for (let i = 0; i < rows.length; i++) yield rollout(part, i);
    }
  }

  /** Some term's function could not be loaded. */
  get lacks(): boolean {
    return [...this.scorers].some(([body, own]) => own.size < body.reward.terms.length);
  }

  /** Terms that keep their recorded values, and why. */
  get notes(): readonly string[] {
    return [...this.found];
  }

  get summary(): RescoredSummary {
    const { notes } = this;
    return { ...this.tally.summary, ...(notes.length > 0 && { notes }) };
  }

  /** Ends the processes that it started. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.scorers.values()].flatMap((own) => [...own.values()].map((scorer) => scorer.close())),
    );
  }
}

function stepsOf(recorded: readonly RecordedRow[]): Iterable<RolloutRow[]> {
  const steps = new Map<string, RolloutRow[]>();
  for (const one of recorded) {
    const row = withResponse(one);
    const key = JSON.stringify([row.run ?? "", row.step]);
    const known = steps.get(key);
    if (known === undefined) steps.set(key, [row]);
    else known.push(row);
  }
  return steps.values();
}
