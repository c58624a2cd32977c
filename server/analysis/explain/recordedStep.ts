/** The recorded rows of one optimiser step, as columns, with everything that can be wrong with them. */
import { UserError } from "../../../shared/lib/errors.ts";
import { fromWire, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { Algorithm, contextOf } from "../../algorithm/algorithm.ts";
import { columnOf, applies } from "../../algorithm/rewards/rewards.ts";
import { keyedRandom } from "../../core/config/keyedRandom.ts";
import { comparesSiblings } from "../../config/siblings.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { otherHead } from "../../methods/objective/values/otherHeads.ts";
import {
  batchOfRows,
  columnOfRows,
  groupKey,
  recordedValue,
  sourceNameOf,
  type RecordedRow,
} from "../recorded.ts";
import type { TermValue } from "../../core/slots/reward.ts";
import type { Clock } from "../../core/basics.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Channel, Stats } from "../../core/policy.ts";
import type { RewardColumn } from "../../core/reward.ts";
import { withBranchValues } from "./branches.ts";
import { recordedChannel } from "./channels.ts";
import { stageAt } from "./stageAt.ts";

const none: TermValue = { kind: "none" };
/** Name of the column that holds `reward` where a row has no terms. */
const wholeReward = "total";
const isEmpty = (map: object | undefined): boolean => map === undefined || Object.keys(map).length === 0;

/** The algorithm of a stage, or of a variant of one, for rollouts that are there already. */
export const algorithmOf = (body: StageBody): Algorithm =>
  // A method that draws (Clip-Cov) draws alike each time that the same rollouts are explained.
  new Algorithm(body, contextOf(body, { random: keyedRandom("explain") }));

export class RecordedStep {
  readonly algorithm: Algorithm;
  readonly body: StageBody;
  readonly clock: Clock;
  /** The mask slot has been applied. */
  readonly batch: Batch;
  /** As recorded, before the mask slot. */
  readonly unmasked: Batch;
  readonly rows: readonly RolloutRow[];

  constructor(
    config: RunConfig,
    private readonly recorded: readonly RecordedRow[],
    estimates: readonly RecordedRow[] = [],
  ) {
    this.rows = recorded.map(({ row }) => row);
    const { body, clock } = stageAt(config, this.rows[0]!.step);
    this.body = body;
    this.clock = clock;
    this.algorithm = algorithmOf(body);
    this.unmasked = batchOfRows(this.rows, body.tasks);
    this.batch = withBranchValues(this.algorithm.masked(this.unmasked), this.rows, estimates, this);
  }

  /** One column per term of the config; without per-term rewards, the row's `reward` is used for all of them. */
  terms(): RewardColumn[] {
    const { terms } = this.body.reward;
    const whole = this.rows.map(({ rewards, errors }) => isEmpty(rewards) && isEmpty(errors));
    const columns = terms.map((term) =>
      columnOf(
        term.name,
        this.rows.map((row, i) =>
          whole[i] === true || !this.sent(term, row) ? none : recordedValue(row, term.name),
        ),
        this.batch,
      ),
    );
    if (!whole.some(Boolean) || this.algorithm.takesRecorded) return columns;
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
      if (row.reward === undefined)
        throw this.refusal(
          i,
          'the rollout has neither "rewards" nor "reward"',
          "Record one of them, or set `advantage.baseline: given` and record advantages.",
        );
      if (row.reward === null) return none;
      const value = fromWire(row.reward);
      return Number.isFinite(value)
        ? { kind: "value", value }
        : { kind: "error", message: `the recorded reward is ${value}` };
    });
    return [...columns, columnOf(wholeReward, values, this.batch)];
  }

  recordedAdvantages(): Float64Array {
    const values =
      columnOfRows(this.rows, "advantages", this.batch.offsets) ??
      new Float64Array(this.batch.tokens.length).fill(Number.NaN);
    this.rows.forEach((row, i) => {
      if (row.advantages !== undefined) return;
      if (row.advantage === undefined)
        throw this.refusal(
          i,
          '`advantage.baseline: given` needs "advantages" or "advantage", but the rollout has neither',
          "Record one of them, or choose another baseline.",
        );
      values.fill(fromWire(row.advantage), this.batch.offsets[i]!, this.batch.offsets[i + 1]!);
    });
    const infinite = values.findIndex((value) => !Number.isNaN(value) && !Number.isFinite(value));
    if (infinite >= 0)
      throw this.refusal(
        this.rowAt(infinite),
        `a recorded advantage is ${values[infinite]}`,
        "Record a finite number, or null if the rollout has no advantage.",
      );
    return values;
  }

  /** Whether the rows have what an update reads: its log-probs, or the heads' values where the loss reads these alone. */
  updates(): boolean {
    const { channels } = this.algorithm.needs(this.clock);
    return channels.includes("logp")
      ? this.hasNew()
      : channels.some((channel) => recordedChannel(this.rows, channel, this.batch.offsets) !== undefined);
  }

  /** Rows without tokens lack nothing. */
  private hasNew(): boolean {
    const lacking = this.rows.map(
      (row, i) => row.logp_new === undefined && this.batch.offsets[i + 1]! > this.batch.offsets[i]!,
    );
    const first = lacking.indexOf(true);
    if (first < 0) return this.rows.some(({ logp_new }) => logp_new !== undefined);
    if (this.rows.some(({ logp_new }) => logp_new !== undefined)) {
      throw this.refusal(
        first,
        'the rollout has no "logp_new", but others of its step have it',
        "Record it for all rollouts of a step, or for none, in which case only advantages are explained.",
      );
    }
    return false;
  }

  /**
   * Log-probs at generation. A row without `logp_old` counts as on policy: its old log-probs are the new ones, without
   * gradient, so that its ratios are 1. What help is compared with are the weights that the step's updates began with: without
   * `logp_proximal` this is the first of them, which finds the new ones.
   */
  generated(update: boolean): Stats {
    const { batch, rows, algorithm } = this;
    const fresh = update ? columnOfRows(rows, "logp_new", batch.offsets) : undefined;
    const others = this.others();
    const logp = this.filled(batch.columns.logp_old, fresh, "logp_old");
    const proximal = algorithm.needs(this.clock).guidedModels.includes("proximal")
      ? this.filled(others["logp:proximal"], fresh, "logp_proximal", "logp:proximal")
      : undefined;
    return { ...others, ...(logp && { logp }), ...(proximal && { "logp:proximal": proximal }) };
  }
  /** A column with those of other weights where a row has none of its own. @param names keys that a row may have it under */
  private filled(
    column: Float64Array | undefined,
    fresh: Float64Array | undefined,
    ...names: readonly string[]
  ): Float64Array | undefined {
    const { rows, batch } = this;
    if (column === undefined || fresh === undefined) return column?.slice() ?? fresh?.slice();
    const filled = column.slice();
    rows.forEach((row, i) => {
      if (Object.keys(row).some((key) => names.includes(key))) return;
      filled.set(fresh.subarray(batch.offsets[i]!, batch.offsets[i + 1]!), batch.offsets[i]!);
    });
    return filled;
  }

  /** What other models, and heads before the update, said of the rows: as far as it was recorded. */
  private others(): Stats {
    const { models, entropies, scores, before, normalizers, heads } = this.algorithm.needs(this.clock);
    const wanted: Channel[] = [
      "logp:reference",
      ...models.map((model): Channel => `logp:${model}`),
      ...entropies.map((model): Channel => `entropy:${model}`),
      ...scores.map(({ channel }) => channel),
      ...before,
      ...normalizers.map((model): Channel => `logsumexp:${model}`),
      ...heads.map(otherHead),
    ];
    return Object.fromEntries(
      [...new Set(wanted)].flatMap((channel) => {
        const column = recordedChannel(this.rows, channel, this.batch.offsets);
        return column === undefined ? [] : [[channel, column]];
      }),
    );
  }

  /** A column must have a finite value wherever a token trains. */
  checkColumn(column: Float64Array | undefined, where: Uint8Array, key: string): void {
    const at =
      column === undefined
        ? where.indexOf(1)
        : where.findIndex((kept, i) => kept === 1 && !Number.isFinite(column[i]!));
    if (at < 0) return;
    const row = this.rowAt(at);
    const token = at - this.batch.offsets[row]!;
    if (column !== undefined && !Number.isNaN(column[at]!))
      throw this.refusal(
        row,
        `"${key}" is ${column[at]} at token ${token} of the rollout, and that token trains`,
        "Every token that trains needs a finite number: mask the token, or leave the rollout out.",
      );
    throw this.refusal(
      row,
      `the config needs "${key}" for every token that trains, but ${column === undefined ? "no rollout of the step has it" : `token ${token} of the rollout has none`}`,
      key === "logp_ref"
        ? "Record logp_ref with the rollouts, or set `kl: []`."
        : `Record ${JSON.stringify(key)} with the rollouts, one number per token.`,
    );
  }

  private rowAt(token: number): number {
    return this.batch.offsets.findLastIndex((offset) => offset <= token);
  }

  checkGroups(): void {
    const { baseline, scale } = this.body.advantage;
    const needing = [
      ["baseline", baseline],
      ["scale", scale],
    ] as const;
    const [slot, choice] = needing.find(([, one]) => comparesSiblings(one)) ?? [];
    if (slot === undefined || choice === undefined || this.algorithm.takesRecorded) return;
    const sizes = new Map<string, number>();
    for (const row of this.rows) sizes.set(groupKey(row), (sizes.get(groupKey(row)) ?? 0) + 1);
    const lonely = this.rows.findIndex((row) => sizes.get(groupKey(row)) === 1);
    if (lonely < 0) return;
    throw this.refusal(
      lonely,
      `group "${this.rows[lonely]!.group}" of step ${this.rows[lonely]!.step} has one rollout, but advantage.${slot}: ${choice.declaration.name} compares rollouts of a group`,
      "Record the group's other rollouts, or choose `advantage: { baseline: none, scale: none }`.",
    );
  }

  private refusal(row: number, message: string, action: string): UserError {
    return new UserError(message, { ...this.recorded[row]!.place, character: 0, code: "explain", action });
  }
}
