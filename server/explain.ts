/**
 * What a config makes of recorded rollouts: rewards → advantages → loss with its gradient per token. Runs no reward
 * and no model. All rows of one step form one optimiser step, without a split into mini-batches.
 */
import { UserError } from "../shared/errors.ts";
import { fromWire, toWire, type RolloutRow, type WireNumber } from "../shared/rollouts.ts";
import { Algorithm, columnOf, contextOf, describeMismatch, type Advantages, type Scored } from "./algorithm.ts";
import { applies } from "./algorithm/rewards.ts";
import type { RewardTermConfig, RunConfig, StageBody } from "./config/resolved.ts";
import { batchOfRows, columnOfRows, groupKey, recordedValue, sourceNameOf, type RecordedRow } from "./recorded.ts";
import type { Batch, Clock, Model, Random, RewardColumn, Stats, TermValue } from "./seams.ts";

export interface ExplainedRollout {
  readonly type: "rollout";
  readonly step: number;
  readonly group: string;
  readonly index: number;
  /** Combined reward, before any KL penalty; null where the row has none. */
  readonly reward: WireNumber | null;
  readonly advantages: readonly WireNumber[];
  readonly weights: readonly WireNumber[];
  /** Absent where the rows have no `logp_new`. */
  readonly grad_logp?: readonly WireNumber[];
}
export interface ExplainedStep {
  readonly type: "summary";
  readonly step: number;
  /** Absent where the rows have no `logp_new`; so are the metrics of the update. */
  readonly loss?: WireNumber;
  readonly metrics: Readonly<Record<string, WireNumber>>;
}
export type Explained = ExplainedRollout | ExplainedStep;

/** Where a recorded step, counted over the whole run, stands in the config's stages: the rl stage that made it. */
export function stageAt({ stages }: RunConfig, step: number): { readonly body: StageBody; readonly clock: Clock } {
  let [start, rl] = [0, 0];
  let found: { readonly body: StageBody; readonly clock: Clock } | undefined;
  for (const stage of stages) {
    if (stage.kind === "rl") {
      const stageStep = Math.max(0, step - start);
      found = { body: stage.body, clock: { step: rl + stageStep, stageStep } };
      if (step < start + stage.steps) return found;
      rl += stage.steps;
    }
    start += stage.steps;
  }
  if (found === undefined) throw new UserError("the config has no rl stage: there is nothing to explain", { code: "no-rl-stage", action: "Add a stage of `kind: rl`, or leave `stages` out." });
  return found;
}

/** The rows that train, by (run, step), in the order in which the steps first appear. */
function stepsOf(rows: readonly RecordedRow[]): RecordedRow[][] {
  const steps = new Map<string, RecordedRow[]>();
  for (const recorded of rows) {
    const { admitted, use, run, step } = recorded.row;
    if (admitted === false || (use ?? "train") !== "train") continue;
    const key = JSON.stringify([run ?? "", step]);
    const known = steps.get(key);
    if (known === undefined) steps.set(key, [recorded]);
    else known.push(recorded);
  }
  return [...steps.values()];
}

const unused: Random = {
  next: () => { throw new Error("explain draws nothing"); },
  integer: () => { throw new Error("explain draws nothing"); },
  fork: () => unused,
};

/** Explains every step of the rows, in order. */
export function* explain(config: RunConfig, rows: readonly RecordedRow[]): Generator<Explained> {
  checkTerms(config, rows);
  for (const step of stepsOf(rows)) yield* new StepExplainer(config, step).explain();
}

/** Rows whose rewards are all of other terms than the config's would silently have none. */
function checkTerms({ stages }: RunConfig, rows: readonly RecordedRow[]): void {
  const wanted = new Set(stages.flatMap(({ body }) => body.reward.terms.map(({ name }) => name)));
  const recorded = new Set(rows.flatMap(({ row }) => [...Object.keys(row.rewards ?? {}), ...Object.keys(row.errors ?? {})]));
  const needless = stages.every(({ body }) => body.advantage.baseline.declaration.name === "given");
  if (recorded.size === 0 || needless || [...recorded].some((name) => wanted.has(name))) return;
  const first = rows.find(({ row }) => row.rewards !== undefined)?.place;
  throw new UserError(`the rollouts have rewards ${[...recorded].join(", ")}, and the config's terms are ${[...wanted].join(", ") || "none"}`, {
    ...first, character: 0, code: "rollout-terms", action: "Name the terms alike, re-score with `gradus reward`, or drop `rewards` so that `reward` is used.",
  });
}

class StepExplainer {
  private readonly algorithm: Algorithm;
  private readonly body: StageBody;
  private readonly clock: Clock;
  private readonly batch: Batch;
  private readonly rows: readonly RolloutRow[];

  constructor(config: RunConfig, private readonly recorded: readonly RecordedRow[]) {
    this.rows = recorded.map(({ row }) => row);
    const { body, clock } = stageAt(config, this.rows[0]!.step);
    this.body = body;
    this.clock = clock;
    this.algorithm = new Algorithm(body, contextOf(body, { random: unused }));
    this.batch = this.algorithm.masked(batchOfRows(this.rows, body.tasks));
  }

  *explain(): Generator<Explained> {
    this.checkGroups();
    const { batch, algorithm, clock } = this;
    const scored = algorithm.rewards(this.terms(), batch, clock);
    const update = this.hasNew();
    const old = this.generated(update);
    const advantages = algorithm.given ? algorithm.recorded(this.recordedAdvantages(), batch) : this.computed(scored, old);
    const weights = algorithm.weights(batch, advantages);
    const groups = algorithm.groups(batch, scored, advantages);
    const metrics = { ...algorithm.describe(batch, scored, advantages, weights, groups), "tokens/trained": weights.reduce((sum, weight) => sum + (weight === 0 ? 0 : 1), 0) };
    const weighed = update ? this.weigh(old, advantages, weights) : undefined;
    const sampled = batch.columns.logp_sampled;
    const mismatch = sampled !== undefined && batch.columns.logp_old !== undefined ? describeMismatch(sampled, batch.columns.logp_old, weights) : {};
    for (let row = 0; row < batch.rows; row++) yield this.rollout(row, scored, advantages, weights, weighed?.gradients.logp);
    yield {
      type: "summary",
      step: this.rows[0]!.step,
      ...(weighed === undefined ? {} : { loss: toWire(weighed.loss) }),
      metrics: wire({ ...metrics, ...mismatch, ...(weighed === undefined ? {} : { ...weighed.metrics, "update/loss": weighed.loss }) }),
    };
  }

  private rollout(row: number, { combined }: Scored, advantages: Advantages, weights: Float64Array, gradient: Float64Array | undefined): ExplainedRollout {
    const { step, group, index } = this.rows[row]!;
    const [start, end] = [this.batch.offsets[row]!, this.batch.offsets[row + 1]!];
    const part = (values: Float64Array): WireNumber[] => Array.from(values.subarray(start, end), toWire);
    const total = combined.total[row]!;
    return {
      type: "rollout", step, group, index,
      reward: Number.isNaN(total) || combined.errored[row] === 1 ? null : toWire(total),
      advantages: part(advantages.tokens.map((value, i) => (weights[i] === 0 ? 0 : value))),
      weights: part(weights),
      ...(gradient === undefined ? {} : { grad_logp: part(gradient) }),
    };
  }

  /** One column per term of the config; without per-term rewards, the row's `reward` stands for all of them. */
  private terms(): RewardColumn[] {
    const { terms } = this.body.reward;
    const whole = this.rows.map((row) => row.rewards === undefined && row.errors === undefined);
    const columns = terms.map((term) =>
      columnOf(term.name, this.rows.map((row, i) => (whole[i] === true || !this.sent(term, row) ? none : recordedValue(row, term.name))), this.batch),
    );
    if (!whole.some(Boolean) || this.algorithm.given) return columns;
    return this.withWholeRewards(columns, whole);
  }

  /** A row that does not tell its task source is sent to every term. */
  private sent(term: RewardTermConfig, row: RolloutRow): boolean {
    const source = sourceNameOf(row, this.body.tasks);
    return source === undefined || applies(term, source);
  }

  private withWholeRewards(columns: RewardColumn[], whole: readonly boolean[]): RewardColumn[] {
    const values = this.rows.map((row, i): TermValue => {
      if (!whole[i]) return none;
      if (row.reward === undefined) throw this.refusal(i, 'the rollout has neither "rewards" nor "reward"', "Record one of them, or set `advantage.baseline: given` and record advantages.");
      if (row.reward === null) return none;
      const value = fromWire(row.reward);
      return Number.isFinite(value) ? { kind: "value", value } : { kind: "error", message: `the recorded reward is ${value}` };
    });
    return [...columns, columnOf(wholeReward, values, this.batch)];
  }

  private computed(scored: Scored, old: Stats): Advantages {
    for (const { place, model, coefficient } of this.algorithm.kl) {
      if (place === "reward" && coefficient(this.clock) !== 0) this.checkColumn(old[`logp:${model}`], this.batch.mask, refKey(model));
    }
    return this.algorithm.advantages(scored.combined, this.batch, old, this.clock);
  }

  private recordedAdvantages(): Float64Array {
    const values = columnOfRows(this.rows, "advantages", this.batch.offsets) ?? new Float64Array(this.batch.tokens.length).fill(Number.NaN);
    this.rows.forEach((row, i) => {
      if (row.advantages !== undefined) return;
      if (row.advantage === undefined) throw this.refusal(i, '`advantage.baseline: given` needs "advantages" or "advantage", and the rollout has neither', "Record one of them, or choose another baseline.");
      values.fill(fromWire(row.advantage), this.batch.offsets[i]!, this.batch.offsets[i + 1]!);
    });
    return values;
  }

  /** Rows without tokens lack nothing. */
  private hasNew(): boolean {
    const lacking = this.rows.map((row, i) => row.logp_new === undefined && this.batch.offsets[i + 1]! > this.batch.offsets[i]!);
    const first = lacking.indexOf(true);
    if (first < 0) return this.rows.some(({ logp_new }) => logp_new !== undefined);
    if (this.rows.some(({ logp_new }) => logp_new !== undefined)) {
      throw this.refusal(first, 'the rollout has no "logp_new", and others of its step have', "Record it for all rollouts of a step, or for none: then only advantages are explained.");
    }
    return false;
  }

  /**
   * Log-probs at generation. A row without `logp_old` counts as on policy: its old log-probs are the new ones, without
   * gradient, so that its ratios are 1.
   */
  private generated(update: boolean): Stats {
    const { batch, rows } = this;
    const [old, fresh, reference] = [batch.columns.logp_old, update ? columnOfRows(rows, "logp_new", batch.offsets) : undefined, columnOfRows(rows, "logp_ref", batch.offsets)];
    const logp = old?.slice() ?? fresh?.slice();
    if (logp !== undefined && fresh !== undefined) {
      rows.forEach((row, i) => {
        if (row.logp_old === undefined) logp.set(fresh.subarray(batch.offsets[i]!, batch.offsets[i + 1]!), batch.offsets[i]!);
      });
    }
    return { ...(logp === undefined ? {} : { logp }), ...(reference === undefined ? {} : { "logp:reference": reference }) };
  }

  private weigh(old: Stats, { tokens }: Advantages, weights: Float64Array): ReturnType<ReturnType<Algorithm["weigh"]>> {
    const { batch, clock, algorithm } = this;
    const logp = columnOfRows(this.rows, "logp_new", batch.offsets) ?? new Float64Array(batch.tokens.length);
    const entropy = batch.columns.entropy;
    const trained = Uint8Array.from(weights, (weight) => (weight === 0 ? 0 : 1));
    this.checkColumn(logp, trained, "logp_new");
    if (this.body.objective.loss.declaration.name !== "reinforce") this.checkColumn(old.logp, trained, "logp_old");
    if (algorithm.channels(clock).includes("entropy")) this.checkColumn(entropy, trained, "entropy");
    for (const { place, model, coefficient } of algorithm.kl) if (place === "loss" && coefficient(clock) !== 0) this.checkColumn(old[`logp:${model}`], trained, refKey(model));
    const now: Stats = { logp, ...(entropy === undefined || entropy.some((value, i) => trained[i] === 1 && Number.isNaN(value)) ? {} : { entropy }) };
    return algorithm.weigh({ old, advantages: tokens, weights }, clock)(now, batch);
  }

  /** A column must have a value wherever a token trains. */
  private checkColumn(column: Float64Array | undefined, where: Uint8Array, key: string): void {
    const at = column === undefined ? where.indexOf(1) : where.findIndex((kept, i) => kept === 1 && Number.isNaN(column[i]!));
    if (at < 0) return;
    const row = this.batch.offsets.findLastIndex((offset) => offset <= at);
    throw this.refusal(row, `the config needs "${key}" for every token that trains, and ${column === undefined ? "no rollout of the step has it" : `token ${at - this.batch.offsets[row]!} of the rollout has none`}`, key === "logp_ref" ? "Record logp_ref with the rollouts, or set `kl: []`." : `Record ${key} with the rollouts.`);
  }

  private checkGroups(): void {
    const { baseline, scale } = this.body.advantage;
    const needing = [["baseline", baseline], ["scale", scale]] as const;
    const [slot, choice] = needing.find(([, { declaration }]) => grouping.includes(declaration.name)) ?? [];
    if (slot === undefined || choice === undefined || this.algorithm.given) return;
    const sizes = new Map<string, number>();
    for (const row of this.rows) sizes.set(groupKey(row), (sizes.get(groupKey(row)) ?? 0) + 1);
    const lonely = this.rows.findIndex((row) => sizes.get(groupKey(row)) === 1);
    if (lonely < 0) return;
    throw this.refusal(lonely, `group "${this.rows[lonely]!.group}" of step ${this.rows[lonely]!.step} has one rollout, and advantage.${slot}: ${choice.declaration.name} compares those of a group`, "Record the group's other rollouts, or choose `advantage: { baseline: none, scale: none }`.");
  }

  private refusal(row: number, message: string, action: string): UserError {
    return new UserError(message, { ...this.recorded[row]!.place, character: 0, code: "explain", action });
  }
}

const none: TermValue = { kind: "none" };
/** Name of the column that stands for `reward` where a row has no terms. */
const wholeReward = "total";
const grouping: readonly string[] = ["group_mean", "leave_one_out", "group_std"];

/** The key of a row that has a model's log-probs: only the reference's are recorded. */
const refKey = (model: Model): string => (model === "reference" ? "logp_ref" : `log-probs of model ${model}`);

const wire = (metrics: Readonly<Record<string, number>>): Record<string, WireNumber> => Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, toWire(value)]));
