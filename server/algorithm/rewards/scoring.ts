/** Runs the reward terms of a stage: each on the rollouts it applies to, all terms at once. */
import type { TermValue } from "../../core/slots/reward.ts";
import { isEarlierPart, type Batch } from "../../core/rollouts.ts";
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
import { applies, columnOf, valueIn } from "./rewards.ts";
import { scoredByAttempts } from "./attempts.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import {
  decidingOrder,
  neededBy,
  plainDeciding,
  readsOf,
  type ReadTerm,
} from "../../core/config/termFacts.ts";
import { selectRows } from "../../core/rows/batch.ts";
import type { CreateContext } from "../../core/declaration.ts";

const noneOf = ({ rows }: Batch): TermValue[] => Array.from({ length: rows }, () => ({ kind: "none" }));

/** What a row got of the first term that applies to it. */
function firstSaid(columns: readonly RewardColumn[], row: number): TermValue {
  const column = columns.find((one) => one.status[row] !== status.none);
  return column === undefined ? { kind: "none" } : valueIn(column, row);
}

/** @throws UserError where a term reads itself, directly or through others, or one that does not exist */
function checkedNeeds(term: RewardTermConfig, reward: StageBody["reward"]): ReadonlySet<string> {
  const names = reward.terms.map(({ name }) => name);
  const unknown = readsOf(term).find((name) => name !== undefined && !names.includes(name));
  const needs = neededBy(term, reward);
  if (unknown === undefined && !needs.has(term.name)) return needs;
  throw new UserError(
    unknown === undefined
      ? `The reward term ${term.name} reads its own value, through ${[...needs].filter((name) => name !== term.name).join(", ") || "itself"}`
      : `The reward term ${term.name} reads the term ${unknown}, which does not exist`,
    {
      code: "read-term",
      action: `Name another term: ${names.filter((name) => name !== term.name && !needs.has(name)).join(", ") || "there is none yet"}.`,
    },
  );
}

function objectiveNamed(use: string, params: object, context: CreateContext): Objective {
  const declaration = methodOf("objective", use);
  if (declaration === undefined) throw new Error(`internal: no objective is named ${use}`);
  return declaration.create(declaration.params.parse(params), { ...context, folder: "" });
}

const learns = ({ learners }: RewardTerm): boolean => learners !== undefined && learners.length > 0;

interface MadeTerm {
  readonly config: RewardTermConfig;
  readonly term: RewardTerm;
  /** Its scores, or those of a term that it reads, depend on a learner: it waits until the step's rollouts are known. */
  readonly waits: boolean;
}

export class Scorer {
  private readonly terms: readonly MadeTerm[];
  /** Which of the terms a caller gets columns of. */
  private readonly asked: readonly MadeTerm[];

  /** By term, what user code was loaded. */
  readonly loaded = new Map<string, Prepared>();
  private readonly deciding: ReadonlySet<string>;
  /** Terms that score held-out answers alone. */
  private readonly gold: ReadonlySet<string>;

  /**
   * Throws a UserError for a term that this version can't run, or that reads itself. Starts nothing.
   * @param only a term's name: that term alone is scored, with those that it reads
   */
  constructor(
    private readonly config: StageBody["reward"],
    context: CreateContext,
    only?: string,
  ) {
    this.deciding = new Set(decidingOrder(config).map(({ name }) => name));
    this.gold = new Set(config.gold.filter((name) => name !== only));
    const withLosses: CreateContext = {
      ...context,
      objective: (use, params) => objectiveNamed(use, params, context),
    };
    const needs = new Map(config.terms.map((term) => [term.name, checkedNeeds(term, config)]));
    const made = config.terms
      .filter(({ name }) => only === undefined || name === only || needs.get(only)?.has(name) === true)
      .map((term) => ({ config: term, term: create(term.term, withLosses, term.name) }));
    const learning = new Set(made.filter(({ term }) => learns(term)).map(({ config: { name } }) => name));
    this.terms = made.map((one) => {
      const { name } = one.config;
      const waits = learning.has(name) || [...needs.get(name)!].some((other) => learning.has(other));
      return { ...one, waits };
    });
    this.asked = this.terms.filter(({ config: { name } }) => only === undefined || name === only);
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
    return this.terms.some(({ waits }) => waits);
  }

  /**
   * One column a term, in the config's order. A row that a term does not apply to has none of it, and terms of `reward.gold`
   * apply to none.
   */
  score(batch: Batch, context: RewardContext): Promise<RewardColumn[]> {
    const none = noneOf(batch);
    return this.scoreThose(batch, context, ({ config }) => this.withoutGold(config, none, batch), []);
  }
  /** One column a term of `reward.gold`. */
  scoreGold(batch: Batch, context: RewardContext): Promise<RewardColumn[]> {
    const columnFor = this.columnsOf(batch, context);
    return Promise.all(this.asked.filter(({ config: { name } }) => this.gold.has(name)).map(columnFor));
  }
  private withoutGold(
    { name }: RewardTermConfig,
    none: readonly TermValue[],
    batch: Batch,
  ): RewardColumn | undefined {
    return this.gold.has(name) ? columnOf(name, none, batch) : undefined;
  }
  /** `score` without the terms that wait for their learners: those apply to no row yet. */
  scorePlain(batch: Batch, context: RewardContext): Promise<RewardColumn[]> {
    const none = noneOf(batch);
    return this.scoreThose(
      batch,
      context,
      ({ config, waits }) =>
        waits ? columnOf(config.name, none, batch) : this.withoutGold(config, none, batch),
      [],
    );
  }
  /** The terms that decide what is a success, of rows that are single attempts; the others apply to none. */
  scoreDeciding(batch: Batch, context: RewardContext): Promise<RewardColumn[]> {
    const none = noneOf(batch);
    return this.scoreThose(
      batch,
      context,
      ({ config, waits }) =>
        waits || !this.deciding.has(config.name) ? columnOf(config.name, none, batch) : undefined,
      [],
    );
  }
  /** The terms that waited, in addition to those of `plain`. */
  scoreLearned(
    batch: Batch,
    context: RewardContext,
    plain: readonly RewardColumn[],
  ): Promise<RewardColumn[]> {
    return this.scoreThose(
      batch,
      context,
      ({ config, waits }, index) => (waits && !this.gold.has(config.name) ? undefined : plain[index]),
      plain,
    );
  }

  private scoreThose(
    batch: Batch,
    context: RewardContext,
    known: (one: MadeTerm, index: number) => RewardColumn | undefined,
    earlier: readonly RewardColumn[],
  ): Promise<RewardColumn[]> {
    const before = new Map<string, Promise<RewardColumn>>();
    this.terms.forEach((one, i) => {
      if (earlier[i] !== undefined && !one.waits) before.set(one.config.name, Promise.resolve(earlier[i]));
    });
    const columnFor = this.columnsOf(batch, context, before);
    return Promise.all(this.asked.map(async (one) => known(one, this.terms.indexOf(one)) ?? columnFor(one)));
  }

  /** Columns of terms on a batch: one that others read is scored once, and before them. */
  private columnsOf(
    batch: Batch,
    context: RewardContext,
    scored = new Map<string, Promise<RewardColumn>>(),
  ): (one: MadeTerm) => Promise<RewardColumn> {
    const columnFor = (one: MadeTerm): Promise<RewardColumn> => {
      const { name } = one.config;
      const found = scored.get(name) ?? this.scoreOne(one, batch, context, columnFor);
      scored.set(name, found);
      return found;
    };
    return columnFor;
  }

  private async scoreOne(
    { config, term }: MadeTerm,
    batch: Batch,
    context: RewardContext,
    columnFor: (one: MadeTerm) => Promise<RewardColumn>,
  ): Promise<RewardColumn> {
    const applying = [...batch.records.keys()].filter((row) =>
      applies(config, batch.records[row]!.task.source),
    );
    // An episode's last row is scored for all of them.
    const rows = applying.filter(
      (row) => batch.records[row]!.failed === undefined && !isEarlierPart(batch.records[row]!),
    );
    const own = rows.length === batch.rows ? batch : selectRows(batch, rows);
    const attempts = term.whole === true ? "episode" : config.attempts;
    const said = await this.readBy(config, rows, columnFor);
    const scored =
      rows.length === 0
        ? []
        : await scoredByAttempts(term, attempts, own, {
            ...context,
            ...(said && { said, scores: (name, other) => this.scoresOf(name, other, context) }),
          });
    const values = noneOf(batch);
    rows.forEach(
      (row, i) => (values[row] = scored[i] ?? { kind: "error", message: "the term gave no result" }),
    );
    for (const row of applying) {
      const { failed } = batch.records[row]!;
      if (failed !== undefined) values[row] = { kind: "error", message: failed };
    }
    return columnOf(config.name, values, batch);
  }

  /** What the terms that a term reads gave these rows; undefined: it reads none. */
  private async readBy(
    config: RewardTermConfig,
    rows: readonly number[],
    columnFor: (one: MadeTerm) => Promise<RewardColumn>,
  ): Promise<RewardContext["said"]> {
    const names = readsOf(config);
    if (names.length === 0) return undefined;
    const found = new Map<ReadTerm, readonly TermValue[]>();
    for (const name of names) {
      const columns = await Promise.all(this.termsNamed(name).map(columnFor));
      found.set(
        name,
        rows.map((row) => firstSaid(columns, row)),
      );
    }
    return (name) => found.get(name) ?? [];
  }

  private termsNamed(name: ReadTerm): MadeTerm[] {
    const names = name === undefined ? plainDeciding(this.config).map((term) => term.name) : [name];
    return names.flatMap((one) => this.terms.filter(({ config }) => config.name === one));
  }

  /** What a term that another reads gives rows that are not the step's. */
  private async scoresOf(name: ReadTerm, batch: Batch, context: RewardContext): Promise<TermValue[]> {
    const columns = await Promise.all(this.termsNamed(name).map(this.columnsOf(batch, context)));
    return batch.records.map((_, row) => firstSaid(columns, row));
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
