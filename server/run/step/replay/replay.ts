/** Replay while a run goes on: what a step keeps, and what it draws of what earlier ones kept. */
import type { Replayed, StepReplay, Selected, StepContext, StepAdvantages } from "../context.ts";
import { advantagesOfRow } from "../../../algorithm/advantages/advantageColumns.ts";
import { create } from "../../../core/create.ts";
import { timesRows } from "../../../algorithm/advantages/tokenColumn.ts";
import {
  withReturns,
  type Advantages,
  recordedAdvantages,
} from "../../../algorithm/advantages/tokenAdvantages.ts";
import { rowsOfGroups } from "../../../core/rows/batch.ts";
import { valueAt } from "../../../core/schedule.ts";
import type { ReplayConfig } from "../../../core/config/resolved.ts";
import { randomStream } from "../../../lib/random.ts";
import type { KeptRow } from "../../../methods/replay/keptRow.ts";
import { Memory, pastOf, recalibrated, taken, type DrawUnit } from "../../../methods/replay/memory.ts";
import type {
  ReplayAdmission,
  ReplayDraw,
  ReplaySource,
  Rescore,
  Selection,
} from "../../../core/slots/replay.ts";
import { lastParts } from "../../../core/rows/parts.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Stats } from "../../../core/policy.ts";
import type { RewardColumn } from "../../../core/reward.ts";
import { joinColumns } from "../score/rewardColumns.ts";
import { criticColumns, scoredColumns } from "../score/criticValues.ts";
import { GrowingLog } from "./growingLog.ts";
import { keptRow, portions, replayedBatch } from "./keptRows.ts";
import { rewardContext } from "../../loop/session.ts";
import { modelStats } from "../score/modelScores.ts";
import { withTeacherContextAgain } from "../score/teacherContext.ts";
import type { CreateContext } from "../../../core/declaration.ts";

/** An empty memory for a source. */
export function memoryOf({ source }: ReplayConfig, context: CreateContext): Memory {
  const made = create(source, context);
  if (made.kind === "log") {
    const memory = new Memory(made.capacity, undefined);
    memory.log = new GrowingLog(made);
    return memory;
  }
  return made.kind === "window"
    ? new Memory(made.capacity, made.max_age)
    : new Memory(Number.MAX_SAFE_INTEGER, undefined, made.kind === "file");
}

export class Replay implements StepReplay {
  readonly source: ReplaySource;
  private readonly admits: ReplayAdmission;
  private readonly draws: ReplayDraw;
  readonly rescore: Rescore;
  readonly selection: Selection;

  /** @param memory what several stages may share: see `memoryOf` */
  constructor(
    readonly config: ReplayConfig,
    readonly memory: Memory,
    context: CreateContext,
  ) {
    this.source = create(config.source, context);
    this.admits = create(config.admission, context);
    this.draws = create(config.draw, context);
    this.rescore = create(config.rescore, context);
    this.selection = create(config.select, context);
    if (this.rescore.from === "recalibrated") memory.groups = Math.max(memory.groups, this.rescore.window);
  }

  /** Whether a step is to remember anything. */
  private get remembers(): boolean {
    const { kind } = this.source;
    return kind === "window" || (kind !== "none" && this.rescore.from === "recalibrated");
  }

  private get once(): boolean {
    return this.rescore.from === "recomputed" && this.rescore.once;
  }

  private get drawsGroups(): boolean {
    return this.rescore.from === "recomputed" && !this.once;
  }

  /** Rows of the step before them stay out of the draw: `keep` comes after. */
  keep({ clock, step }: StepContext, selected: Selected, advantages: StepAdvantages): void {
    if (!this.remembers) return;
    const { scored } = selected;
    const batch = withReturns(selected.batch, advantages.all);
    this.memory.observe(
      rowsOfGroups(batch).map((rows) =>
        Float64Array.from(rows, (row) => scored.combined.total[row]!).filter((value) => !Number.isNaN(value)),
      ),
    );
    if (this.source.kind !== "window") return;
    const lasts = lastParts(batch);
    const rows = [...new Set([...selected.admitted, ...selected.dropped])].sort((a, b) => a - b);
    const kept = rows
      .filter((row) => scored.combined.errored[lasts[row]!] === 0)
      .map((row) => ({
        ...keptRow({ ...selected, batch }, advantages.all, row, clock.step, `${step}/${batch.group[row]}`),
        // A part of an episode has no reward of its own.
        reward: scored.combined.total[lasts[row]!]!,
        success: scored.success[lasts[row]!]!,
      }));
    this.memory.keep(kept, this.admits, clock.step);
  }

  /**
   * Earlier rollouts for this step, with what they train with; undefined where there is nothing to replay.
   * @param fresh how many of the step's own rollouts train; `batch`: all of them
   * @param round of the step's `updates`
   */
  async draw(
    context: StepContext,
    { fresh, batch }: { readonly fresh: number; readonly batch: Batch },
    round: number,
  ): Promise<Replayed | undefined> {
    const { clock, session, stage, step } = context;
    const weight = valueAt(this.config.weight, clock);
    if (this.source.kind === "none" || clock.stageStep % this.config.every !== 0 || weight === 0)
      return undefined;
    if (round === 0) await this.grow(context);
    this.memory.forget(clock.step);
    if (this.once)
      await this.settle(
        context,
        this.memory.units("group", clock.step).map(({ rows }) => rows),
      );
    const { prompts, group } = stage.config.body.rollout;
    const units = this.memory.units(this.drawsGroups ? "group" : "rollout", clock.step);
    const random = randomStream(session.config.seed, "replay", step, round);
    const tasks = new Set(batch.records.map(({ task }) => task.id));
    const share = valueAt(this.config.share, clock);
    const wanted = Math.round(((fresh === 0 ? prompts * group : fresh) * share) / (1 - share));
    const found = this.taken(units, wanted, (n) =>
      this.draws(
        units.map(({ past }) => past),
        n,
        random,
        tasks,
      ),
    );
    return found.rows.length === 0 ? undefined : this.training(context, found, weight);
  }

  private taken(
    units: readonly DrawUnit[],
    wanted: number,
    draw: (n: number) => ReturnType<ReplayDraw>,
  ): { rows: KeptRow[]; weights: number[] } {
    if (units.length === 0 || wanted === 0) return { rows: [], weights: [] };
    if (this.source.kind === "window" && this.source.burst) {
      if (!this.memory.full) return { rows: [], weights: [] };
      this.memory.rows = [];
      return taken(
        units,
        units.map((_, index) => ({ index, weight: 1 })),
      );
    }
    const size = this.memory.rows.length / units.length;
    return taken(units, draw(Math.max(1, Math.round(wanted / size))));
  }

  private async training(
    context: StepContext,
    { rows, weights }: { readonly rows: readonly KeptRow[]; readonly weights: readonly number[] },
    factor: number,
  ): Promise<Replayed | undefined> {
    const { algorithm } = context.stage;
    const kept = this.rescored(rows);
    if (kept.length === 0) return undefined;
    const chosen = kept.map(({ at }) => rows[at]!);
    const { batch, scored, old } = await this.read(context, chosen);
    const advantages = this.drawsGroups
      ? await recomputed(context, { batch, scored, old })
      : recordedAdvantages(Float64Array.from(kept.flatMap(({ advantages }) => [...advantages])), batch);
    const byRow = Float64Array.from(kept, ({ at }) => weights[at]! * factor);
    const { returns = batch.columns.returns } = advantages;
    const learned = { ...batch, columns: { ...batch.columns, ...(returns && { returns }) } };
    return {
      training: {
        batch: learned,
        advantages,
        weights: timesRows(algorithm.tokenWeights(batch, advantages), batch, byRow),
        old,
        scored,
      },
      rows: chosen,
    };
  }

  /** Kept rows as a batch, with their rewards and what models say of them. */
  private async read(context: StepContext, rows: readonly KeptRow[]): Promise<Read> {
    const { algorithm } = context.stage;
    const batch = withTeacherContextAgain(
      context,
      algorithm.masked(replayedBatch(rows, context.session.policy.version)),
    );
    const scored = algorithm.rewards(await this.terms(context, batch, rows), batch, context.clock);
    return { batch, scored, old: await known(context, batch) };
  }

  /** Takes up what others have written since the last step; the rule of admission knows their advantages. */
  private async grow(context: StepContext): Promise<void> {
    const { log } = this.memory;
    if (!(log instanceof GrowingLog)) return;
    const { clock, session, stage, step } = context;
    const { groups, problem, leftOut } = log.next(stage.config.body.rollout.group, clock.step, session.run);
    if (problem !== undefined)
      session.recorder.event(
        "warning",
        "shared-log-lines",
        `${leftOut} of the rollouts that others wrote are left out. The first that cannot be used: ${problem}.`,
        { step, action: "Write whole rollouts of this format (docs/rollouts.md), one JSON object a line." },
      );
    if (this.rescore.from === "recomputed") await this.settle(context, groups);
    if (!this.drawsGroups) return this.memory.keep(groups.flat(), this.admits, clock.step);
    // The advantages of a group that is drawn whole are computed over all of it.
    const admitted = groups.filter((rows) => rows.some((row) => this.admits(pastOf([row], clock.step))));
    this.memory.keep(admitted.flat(), () => true, clock.step);
  }

  /** Computes the advantages of rows that have none of this config, whole groups at a time. */
  private async settle(context: StepContext, groups: readonly (readonly KeptRow[])[]): Promise<void> {
    const fresh = groups.flatMap((rows) => {
      const own = rows.filter(({ settled }) => settled !== true);
      return own.length === 0 ? [] : [own];
    });
    for (const rows of portions(fresh)) {
      context.session.signal.throwIfAborted();
      const found = await this.read(context, rows);
      const advantages = await recomputed(context, found);
      rows.forEach((row, i) => {
        row.advantages = advantagesOfRow(advantages, found.batch, i);
        row.settled = true;
      });
    }
  }

  /** Rows that stay, by their place, with their advantages. */
  private rescored(rows: readonly KeptRow[]): { at: number; advantages: Float64Array }[] {
    const { rescore } = this;
    if (rescore.from !== "recalibrated") return rows.map(({ advantages }, at) => ({ at, advantages }));
    const level = this.memory.level(rescore.quantile);
    if (level === undefined) return [];
    return rows.flatMap((row, at) => {
      const advantages = recalibrated(row, level, rescore);
      return advantages === undefined ? [] : [{ at, advantages }];
    });
  }

  private async terms(
    { stage, session, clock }: StepContext,
    batch: Batch,
    rows: readonly KeptRow[],
  ): Promise<RewardColumn[]> {
    if (this.rescore.from !== "recomputed" || !this.rescore.again)
      return joinColumns(rows.map(({ terms }) => terms));
    return stage.scorer.score(batch, rewardContext(session, clock));
  }
}

interface Read extends Pick<Selected, "batch" | "scored"> {
  readonly old: Stats;
}

/** Advantages by the present config. */
const recomputed = async (context: StepContext, { batch, scored, old }: Read): Promise<Advantages> =>
  context.stage.algorithm.advantages(
    scored.combined,
    batch,
    { ...old, ...(await criticValuesNow(context, batch)) },
    context.clock,
  );

/** What critics say of replayed rollouts now. What was recorded of the distribution that generated them stays. */
async function criticValuesNow(context: StepContext, batch: Batch): Promise<Stats> {
  return { ...(await criticColumns(context, batch)), ...scoredColumns(batch.columns) };
}

/** Columns of generation; tokens that train without a log-prob of their writer count as written by the policy as it is. */
async function known(context: StepContext, batch: Batch): Promise<Stats> {
  const stats = await modelStats(context, batch);
  const logp = stats.logp?.slice() ?? new Float64Array(batch.tokens.length).fill(Number.NaN);
  if (!logp.some((value, i) => batch.mask[i] === 1 && Number.isNaN(value))) return stats;
  const now = await context.session.models
    .get("policy")
    .score(batch, { model: "policy", channels: ["logp"] });
  return { ...stats, logp: logp.map((value, i) => (Number.isNaN(value) ? now.logp![i]! : value)) };
}
