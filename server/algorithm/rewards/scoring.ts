/** Runs the reward terms of a stage: each on the rollouts it applies to, all terms at once. */
import type { TermValue } from "../../core/slots/reward.ts";
import type { Batch } from "../../core/rollouts.ts";
import {
  status,
  type Learner,
  type Prepared,
  type RewardColumn,
  type RewardContext,
  type RewardTerm,
} from "../../core/reward.ts";
import type { Objective } from "../../core/loss.ts";
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { create } from "../../core/create.ts";
import { methodOf } from "../../methods/index.ts";
import { applies, columnOf } from "./rewards.ts";
import { scoredByAttempts } from "./attempts.ts";
import { selectRows } from "../../core/rows/batch.ts";
import type { CreateContext } from "../../core/declaration.ts";

function objectiveNamed(use: string, params: object, context: CreateContext): Objective {
  const declaration = methodOf("objective", use);
  if (declaration === undefined) throw new Error(`internal: no objective is named ${use}`);
  return declaration.create(declaration.params.parse(params), { ...context, folder: "" });
}

/** The scores of a term with a learner depend on the whole step: it waits until the step's rollouts are known. */
const waits = ({ learners }: RewardTerm): boolean => learners !== undefined && learners.length > 0;

export class Scorer {
  private readonly terms: readonly { readonly config: RewardTermConfig; readonly term: RewardTerm }[];

  /** By term, what user code was loaded. */
  readonly loaded = new Map<string, Prepared>();
  /** undefined: any of them. */
  private readonly deciding: readonly string[] | undefined;

  /** Throws a UserError for a term that this version can't run. Starts nothing. */
  constructor(config: StageBody["reward"], context: CreateContext) {
    this.deciding = config.success.terms;
    const learns: CreateContext = {
      ...context,
      objective: (use, params) => objectiveNamed(use, params, context),
    };
    this.terms = config.terms.map((term) => ({ config: term, term: create(term.term, learns, term.name) }));
  }

  /** Loads user code, before the first step. The SHA-256 of each bundle, by term. */
  async prepare(): Promise<Record<string, string>> {
    const bundles: Record<string, string> = {};
    for (const { config, term } of this.terms) {
      const made = await term.prepare?.();
      if (made?.bundle === undefined) continue;
      bundles[config.name] = made.bundle;
      this.loaded.set(config.name, made);
    }
    return bundles;
  }

  /** The models that learn for these terms, in declared order. */
  get learners(): readonly Learner[] {
    return [...new Set(this.terms.flatMap(({ term }) => term.learners ?? []))];
  }
  /** Whether a term scores only once the step's batch is known, after learners that train before the advantages. */
  get waits(): boolean {
    return this.terms.some(({ term }) => waits(term));
  }

  /** One column a term, in the config's order. A row that a term does not apply to has none of it. */
  score(batch: Batch, context: RewardContext): Promise<RewardColumn[]> {
    return this.scoreThose(batch, context, () => undefined);
  }
  /** The same without the terms that wait for their learners: those apply to no row yet. */
  scorePlain(batch: Batch, context: RewardContext): Promise<RewardColumn[]> {
    const none: readonly TermValue[] = Array.from({ length: batch.rows }, () => ({ kind: "none" }));
    return this.scoreThose(batch, context, ({ config, term }) =>
      waits(term) ? columnOf(config.name, none, batch) : undefined,
    );
  }
  /** The terms that decide what is a success, of rows that are single attempts; the others apply to none. */
  scoreDeciding(batch: Batch, context: RewardContext): Promise<RewardColumn[]> {
    const none: readonly TermValue[] = Array.from({ length: batch.rows }, () => ({ kind: "none" }));
    return this.scoreThose(batch, context, ({ config, term }) =>
      waits(term) || this.deciding?.includes(config.name) === false
        ? columnOf(config.name, none, batch)
        : undefined,
    );
  }
  /** The terms that waited, in addition to those of `plain`. */
  scoreLearned(
    batch: Batch,
    context: RewardContext,
    plain: readonly RewardColumn[],
  ): Promise<RewardColumn[]> {
    return this.scoreThose(batch, context, ({ term }, index) => (waits(term) ? undefined : plain[index]));
  }

  private scoreThose(
    batch: Batch,
    context: RewardContext,
    known: (one: (typeof this.terms)[number], index: number) => RewardColumn | undefined,
  ): Promise<RewardColumn[]> {
    return Promise.all(
      this.terms.map(async (one, index) => {
        const already = known(one, index);
        if (already !== undefined) return already;
        const { config, term } = one;
        const rows = [...batch.records.keys()].filter((row) =>
          applies(config, batch.records[row]!.task.source),
        );
        const own = rows.length === batch.rows ? batch : selectRows(batch, rows);
        const scored = rows.length === 0 ? [] : await scoredByAttempts(term, config.attempts, own, context);
        const values: TermValue[] = Array.from({ length: batch.rows }, () => ({ kind: "none" }));
        rows.forEach(
          (row, i) => (values[row] = scored[i] ?? { kind: "error", message: "the term gave no result" }),
        );
        return columnOf(config.name, values, batch);
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.terms.map(async ({ term }) => term.close?.()));
  }
}

/** The errors of scored columns, as messages that name the term: what a run reports as events. */
export const scoringErrors = (
  columns: readonly RewardColumn[],
): { readonly term: string; readonly row: number; readonly message: string }[] =>
  columns.flatMap((column) =>
    [...column.errors]
      .filter(([row]) => column.status[row] === status.error)
      .map(([row, message]) => ({ term: column.name, row, message })),
  );
