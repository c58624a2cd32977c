/** A run's stored rollouts, kept in memory as far as they fit, and scored again by configs that differ from the run's. */
import { setImmediate } from "node:timers/promises";
import type { RecordPlace } from "../../../shared/log/recordAt.ts";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { Rescored } from "../../../shared/rollouts/rescore.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { stageAt } from "../explain/stageAt.ts";
import { isLost } from "../imported/isLost.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { RewardColumn } from "../../core/reward.ts";
import { ComparisonTally, type Compared } from "./compare.ts";
import { scoreStep, type ScoredStep } from "./scoreStep.ts";
import { readStep, type StoredStep } from "./storedStep.ts";
import { computedColumn, keeps, keyOf, recordedColumn, sameTerm, type TermSource } from "./terms.ts";
import { PythonTerms } from "./pythonTerm.ts";
import { UserTerms } from "./userTerm.ts";

interface RescoredRun {
  readonly id: string;
  readonly name: string;
  /** `runs/<id>` */
  readonly folder: string;
  /** As it began. */
  readonly config: RunConfig;
  /** SHA-256 of each user reward's bundle, by term. */
  readonly bundles: Readonly<Record<string, string>>;
  /** The Python that it was started with. */
  readonly python?: string | undefined;
}

export interface RescoreOptions {
  /** Whether more may be run than terms that only compute. */
  readonly trusted: boolean;
  /** Texts of files that are open in an editor, by their paths. */
  readonly unsaved: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** What is kept of a step in addition to its rollouts. */
interface CachedStep {
  readonly stored: StoredStep;
  readonly batch: Batch;
  readonly before: ScoredStep;
  /** As recorded, by term. */
  readonly recorded: Map<string, RewardColumn>;
  /** Computed since, by what they were computed by. */
  readonly columns: Map<string, RewardColumn>;
}

/** What a config makes of a step before it is scored. */
export interface Scored {
  readonly kept: CachedStep;
  readonly body: StageBody;
  readonly clock: Clock;
  readonly batch: Batch;
  readonly columns: readonly RewardColumn[];
  readonly notes: readonly string[];
}

/** Steps are kept up to so many bytes, the last used longest. */
const budget = 128 * 1024 * 1024;
/** Columns of earlier edits that are kept for a step: what is undone need not be scored again. */
const columnsKept = 12;
/** Milliseconds for the whole run; what is left then is said to be. */
const wholeWithin = 1_900;

export class RescoreSession {
  private readonly kept = new Map<number, CachedStep>();
  private bytes = 0;
  private ahead: { readonly step: number; readonly places: Promise<readonly RecordPlace[]> } | undefined;
  private readonly users = new UserTerms();
  private readonly pythons: PythonTerms;

  constructor(
    readonly run: RescoredRun,
    private readonly places: (step: number) => Promise<readonly RecordPlace[]>,
  ) {
    this.pythons = new PythonTerms(run.python);
  }

  /**
   * The last step first, then with each answer as many before it as the time allows.
   * @param steps those that have rollouts, ascending
   * @throws the signal's reason when it is aborted
   */
  async *change(
    config: RunConfig,
    steps: readonly number[],
    options: RescoreOptions,
  ): AsyncGenerator<Rescored> {
    const began = performance.now();
    const sources = await this.sources(config, options);
    const tally = new ComparisonTally();
    const notes = new Set<string>();
    const scored: number[] = [];
    let reported = 0;
    const order = steps.toReversed();
    for (const [done, step] of order.entries()) {
      options.signal.throwIfAborted();
      const last = (): boolean => done === steps.length - 1 || performance.now() - began > wholeWithin;
      try {
        await this.stored(step);
        this.lookAhead(order[done + 1]);
        const { compared, notes: found } = await this.compared(config, step, sources, options.signal);
        tally.add(compared);
        for (const note of found) notes.add(note);
        scored.push(step);
      } catch (error) {
        if (!isLost(error) || (scored.length === 0 && last())) throw error;
        notes.add(error.message);
      }
      const milliseconds = performance.now() - began;
      if (scored.length > 0 && (scored.length === 1 || last() || milliseconds - reported > 500)) {
        reported = milliseconds;
        yield {
          run: this.run.id,
          name: this.run.name,
          from: scored.at(-1)!,
          to: scored[0]!,
          steps: scored.length,
          of: steps.length,
          change: tally.change,
          most: tally.changedMost,
          notes: [...notes],
          milliseconds,
        };
      }
      if (last()) return;
      // Another edit may have come: its message is read between two steps.
      await setImmediate();
    }
  }

  /** A step's columns by the current config, for callers that combine them in several ways. */
  async scored(config: RunConfig, step: number, options: RescoreOptions): Promise<Scored> {
    return this.columnsOf(config, step, await this.sources(config, options), options.signal);
  }

  /** Reads the last step, and starts the processes of the rewards of the user's that the run had. */
  async warm(step: number | undefined, trusted: boolean): Promise<void> {
    for (const { name, term } of trusted ? termsOf(this.run.config).values() : []) {
      if (term.declaration.name === "user") this.users.warm(term.folder);
      else if (term.declaration.name === "python") this.pythons.warm(term, name, timeoutOf(this.run.config));
    }
    if (step !== undefined) await this.stored(step);
  }

  /** A step's rollouts as they were recorded. */
  async recordedStep(step: number): Promise<StoredStep> {
    return (await this.stored(step)).stored;
  }

  close(): Promise<void> {
    this.kept.clear();
    return Promise.all([this.users.close(), this.pythons.close()]).then(() => undefined);
  }

  private async compared(
    config: RunConfig,
    step: number,
    sources: ReadonlyMap<string, TermSource>,
    signal: AbortSignal,
  ): Promise<{ readonly compared: Compared; readonly notes: readonly string[] }> {
    const { kept, columns, body, clock, batch, notes } = await this.columnsOf(config, step, sources, signal);
    const { rows, stats } = kept.stored;
    const now = scoreStep(body, clock, columns, batch, stats);
    const note = now.note ?? kept.before.note;
    return {
      compared: { rows, group: batch.group, groups: batch.groups, before: kept.before, now },
      notes: note === undefined ? notes : [...notes, note],
    };
  }

  private async columnsOf(
    config: RunConfig,
    step: number,
    sources: ReadonlyMap<string, TermSource>,
    signal: AbortSignal,
  ): Promise<Scored> {
    const kept = await this.stored(step);
    const { body, clock } = stageAt(config, step);
    const batch = kept.stored.batch(body.tasks);
    const notes = unavailable(sources);
    const columns: RewardColumn[] = [];
    for (const term of body.reward.terms) {
      try {
        columns.push(await this.column(term, kept, sources.get(term.name), { body, clock, batch, signal }));
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        notes.push(keeps(term.name, error.message));
        columns.push(recordedOf(kept, term.name, batch));
      }
    }
    return { kept, columns, body, clock, batch, notes };
  }

  private async column(
    term: RewardTermConfig,
    kept: CachedStep,
    source: TermSource | undefined,
    place: Parameters<typeof computedColumn>[2],
  ): Promise<RewardColumn> {
    if (source === undefined || source.kind === "recorded" || source.kind === "unavailable")
      return recordedOf(kept, term.name, place.batch);
    const { columns } = kept;
    const column = columns.get(source.key) ?? (await computedColumn(term, source, place));
    columns.delete(source.key);
    columns.set(source.key, column);
    for (const [oldest] of columns) if (columns.size > columnsKept) columns.delete(oldest);
    return column;
  }

  /** By term. A config's stages may write a term differently: the last rl stage's counts. */
  private async sources(config: RunConfig, options: RescoreOptions): Promise<Map<string, TermSource>> {
    const sources = new Map<string, TermSource>();
    const ran = termsOf(this.run.config);
    for (const term of termsOf(config).values())
      sources.set(term.name, await this.source(term, ran.get(term.name), config, options));
    return sources;
  }

  private async source(
    term: RewardTermConfig,
    ran: RewardTermConfig | undefined,
    config: RunConfig,
    { trusted, unsaved }: RescoreOptions,
  ): Promise<TermSource> {
    const same = ran !== undefined && sameTerm(term, ran);
    const { declaration, params } = term.term;
    const method = declaration.name;
    const isFile = method === "user" || method === "python";
    if (same && !(isFile && trusted)) return { kind: "recorded" };
    if (!trusted && declaration.computes?.(params) !== true)
      return {
        kind: "unavailable",
        reason: isFile
          ? "its file runs only in a trusted workspace"
          : `\`${method}\` may run programs or ask servers, which it does only in a trusted workspace`,
      };
    if (!isFile) return { kind: "computed", key: keyOf(term, "") };
    try {
      const terms = method === "python" ? this.pythons : this.users;
      const user = await terms.open(term.term, term.name, timeoutOf(config), unsaved);
      const recorded = same && user.sha256 === this.run.bundles[term.name];
      return recorded ? { kind: "recorded" } : { kind: "user", key: keyOf(term, user.sha256), user };
    } catch (error) {
      return { kind: "unavailable", reason: messageOf(error) };
    }
  }

  private async stored(step: number): Promise<CachedStep> {
    const known = this.kept.get(step);
    if (known !== undefined) {
      // What is used last lies last.
      this.kept.delete(step);
      this.kept.set(step, known);
      return known;
    }
    const places = await this.placesOf(step);
    const stored = readStep(this.run.folder, step, places);
    const { body, clock } = stageAt(this.run.config, step);
    const batch = stored.batch(body.tasks);
    const columns = body.reward.terms.map(({ name }) => recordedColumn(name, stored, batch));
    const recorded = new Map(columns.map((column) => [column.name, column]));
    const before = scoreStep(body, clock, columns, batch, stored.stats);
    const kept: CachedStep = { stored, batch, before, recorded, columns: new Map() };
    this.keep(step, kept);
    return kept;
  }

  /** The store finds, or makes, the rows of the next step while this one is scored. */
  private lookAhead(step: number | undefined): void {
    if (step === undefined || this.kept.has(step)) return;
    const places = this.places(step);
    // Whoever asks for the step gets the failure.
    places.catch(() => undefined);
    this.ahead = { step, places };
  }

  private placesOf(step: number): Promise<readonly RecordPlace[]> {
    const { ahead } = this;
    this.ahead = undefined;
    return ahead?.step === step ? ahead.places : this.places(step);
  }

  private keep(step: number, kept: CachedStep): void {
    this.kept.set(step, kept);
    this.bytes += kept.stored.bytes;
    for (const [oldest, { stored }] of this.kept) {
      if (this.bytes <= budget || oldest === step) break;
      this.kept.delete(oldest);
      this.bytes -= stored.bytes;
    }
  }
}

/** Of all rl stages; where several write a term, the last. */
function termsOf({ stages }: RunConfig): Map<string, RewardTermConfig> {
  return new Map(
    stages
      .filter(({ kind }) => kind === "rl")
      .flatMap(({ body }) => body.reward.terms.map((term) => [term.name, term] as const)),
  );
}

const timeoutOf = ({ top }: RunConfig): number => top.reward.timeout;

const unavailable = (sources: ReadonlyMap<string, TermSource>): string[] =>
  [...sources].flatMap(([term, source]) =>
    source.kind === "unavailable" ? [keeps(term, source.reason)] : [],
  );

function recordedOf({ recorded, stored }: CachedStep, term: string, batch: Batch): RewardColumn {
  const column = recorded.get(term) ?? recordedColumn(term, stored, batch);
  recorded.set(term, column);
  return column;
}
