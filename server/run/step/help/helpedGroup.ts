/** One group while it is written and helped: who is helped, what came of it, and which rows it has in the end. */
import { outcome } from "../../../algorithm/rewards/rewards.ts";
import type { GuidanceConfig } from "../../../core/config/resolved.ts";
import type { Attempt, GuidanceAmount, HelpedRound } from "../../../core/slots/guidance.ts";
import { origin, type Batch } from "../../../core/rollouts.ts";
import type { Tokenizer } from "../../../core/policy.ts";
import type { Scored, StepContext } from "../context.ts";
import type { DrawnGroup } from "../generate/generate.ts";
import type { RowOf } from "../score/score.ts";

/** A helped rollout of a group: `slot` is its place there, `member` which of the helped ones it is. */
export interface Target {
  readonly slot: number;
  readonly member: number;
  /** The plain rollout that it was chosen for. */
  readonly chosen: number;
}

export class HelpedGroup {
  targets: readonly Target[] = [];
  /** Of plain rollouts, by their index in the group; undefined: none were scored before members were chosen. */
  success: Uint8Array | undefined;
  private rewards = new Float64Array(0);
  /** A new array after every round. */
  earlier: readonly HelpedRound[] = [];
  helped = false;
  private readonly plain = new Map<number, RowOf>();
  private readonly guided = new Map<number, RowOf>();
  private expected = new Map<number, number>();
  private arrived: { readonly slot: number; readonly row: RowOf }[] = [];

  constructor(
    readonly drawn: DrawnGroup,
    readonly size: number,
    private readonly config: Pick<GuidanceConfig, "place" | "rollouts" | "enter">,
  ) {}

  get name(): string {
    return this.drawn.group;
  }
  get members(): number[] {
    return Array.from({ length: this.size }, (_, i) => i);
  }

  /** Who is helped: in the places of those chosen, the last ones where not all of them are, or after the group. */
  choose(chosen: readonly number[]): void {
    const { place, rollouts = chosen.length } = this.config;
    if (chosen.length === 0) return;
    if (place === "append")
      this.targets = Array.from({ length: rollouts }, (_, member) => ({
        slot: this.size + member,
        member,
        chosen: chosen[member % chosen.length]!,
      }));
    else
      this.targets = chosen
        .slice(-Math.min(rollouts, chosen.length))
        .map((slot, member) => ({ slot, member, chosen: slot }));
  }

  /** Members that are written plainly, where help is chosen first. */
  get unhelped(): number[] {
    const helped = new Set(this.targets.map(({ slot }) => slot));
    return this.members.filter((slot) => !helped.has(slot));
  }

  /** The targets of a round: all again, or its part of them. */
  targetsOf(round: number, { spread, rounds }: GuidanceAmount): readonly Target[] {
    if (spread === "retries") return this.targets;
    const { length } = this.targets;
    return this.targets.slice(
      Math.floor((round * length) / rounds),
      Math.floor(((round + 1) * length) / rounds),
    );
  }

  /** What each round of help came to. */
  get rounds(): readonly HelpedRound[] {
    return this.success === undefined ? this.earlier : this.earlier.slice(1);
  }

  has({ slot }: Target): boolean {
    return this.plain.has(slot) || this.guided.has(slot);
  }

  /** A helped rollout was drafted for the target. */
  expect({ slot }: Target, share: number): void {
    this.expected.set(slot, share);
  }

  /** A rollout was written for a place of the group. */
  took(slot: number, row: RowOf): void {
    if (this.expected.has(slot)) this.arrived.push({ slot, row });
    else this.plain.set(slot, row);
  }

  /** The plain rollouts are scored. */
  attempted(lots: readonly Scored[], { stage, clock }: StepContext): void {
    const { batch, columns } = lots[0]!;
    const { success, combined } = stage.algorithm.rewards(columns, batch, clock);
    this.success = Uint8Array.from(this.members, (slot) => {
      const row = this.plain.get(slot)!.row;
      return combined.errored[row] === 1 ? outcome.unknown : success[row]!;
    });
    this.rewards = Float64Array.from(this.members, (slot) => combined.total[this.plain.get(slot)!.row]!);
    const successes = this.success.filter((one) => one === outcome.right).length;
    this.earlier = [{ share: 0, rollouts: this.size, successes }];
  }

  /** A round of help is scored: those that may enter take their places. */
  learned(lots: readonly Scored[], { stage, clock }: StepContext, spread: GuidanceAmount["spread"]): void {
    const { arrived, expected } = this;
    [this.arrived, this.expected] = [[], new Map()];
    if (arrived.length === 0) return;
    this.helped = true;
    const { batch, columns } = lots.at(-1)!;
    const { success } = stage.algorithm.rewards(columns, batch, clock);
    const right = arrived.filter(({ row }) => success[row.row] === outcome.right);
    const share = arrived.reduce((sum, { slot }) => sum + expected.get(slot)!, 0) / arrived.length;
    this.earlier = [...this.earlier, { share, rollouts: arrived.length, successes: right.length }];
    // Those of an earlier round give way, whether or not these enter.
    if (spread === "retries") for (const slot of expected.keys()) this.guided.delete(slot);
    if (this.config.enter === "all") for (const { slot, row } of arrived) this.guided.set(slot, row);
    else this.admit(right.map(({ row }) => row));
  }

  /** Successes take the first places that are free. */
  private admit(rows: readonly RowOf[]): void {
    const free = this.targets.map(({ slot }) => slot).filter((slot) => !this.guided.has(slot));
    rows.forEach((row, i) => this.guided.set(free[i]!, row));
  }

  /** Of the round's lots, in the order of the group's places; a helped rollout replaces the plain one of its place. */
  get rows(): RowOf[] {
    const slots = [...new Set([...this.plain.keys(), ...this.guided.keys()])].sort((a, b) => a - b);
    return slots.map((slot) => this.guided.get(slot) ?? this.plain.get(slot)!);
  }

  /** The plain rollout that a target was chosen for, as sources go on from it. */
  attempt({ chosen }: Target, lots: readonly Scored[], tokenizer: Tokenizer): Attempt | undefined {
    const at = this.plain.get(chosen);
    if (at === undefined) return undefined;
    const { batch } = lots[at.lot]!;
    const failed = this.success?.filter((one) => one === outcome.wrong).length ?? 0;
    return {
      sample: writtenOf(batch, at.row, tokenizer),
      response: batch.records[at.row]!.response,
      reward: this.rewards[chosen] ?? Number.NaN,
      error_rate: failed / this.size,
    };
  }
}

/** What the policy wrote of a row, without the end token. */
function writtenOf(
  { offsets, tokens, origin: origins, columns }: Batch,
  row: number,
  { eos, eosAll = [eos] }: Tokenizer,
): Attempt["sample"] {
  let [from, to] = [offsets[row]!, offsets[row + 1]!];
  while (from < to && origins[from] !== origin.written) from += 1;
  if (to > from && eosAll.includes(tokens[to - 1]!)) to -= 1;
  const part = (column: Float64Array | undefined): Float64Array =>
    column?.slice(from, to) ?? new Float64Array(to - from).fill(Number.NaN);
  return {
    tokens: tokens.slice(from, to),
    logp_old: part(columns.logp_old),
    logp_sampled: part(columns.logp_sampled),
    entropy: part(columns.entropy),
    versions: columns.versions?.slice(from, to) ?? new Int32Array(to - from).fill(-1),
  };
}
