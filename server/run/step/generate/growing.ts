/** Groups that grow: each gets a first lot of rollouts, and more of them by what those earned (`curriculum.budget`). */
import type { Budget } from "../../../core/slots/curriculum.ts";
import type { Scored, StepContext } from "../context.ts";
import { groupsOf } from "../../../algorithm/rewards/groups.ts";
import { chosenRows, generateAndScore, type RowOf } from "../score/score.ts";
import { draftingOf } from "./drafting.ts";
import { plainDraft, type DrawnGroup } from "./generate.ts";

/** A group with what it has so far. */
interface Growing {
  readonly drawn: DrawnGroup;
  rollouts: number;
  readonly rows: RowOf[];
}

export class GrowingRound {
  private readonly groups: readonly Growing[];
  private readonly byName: ReadonlyMap<string, Growing>;
  private readonly lots: Scored[] = [];

  constructor(
    private readonly context: StepContext,
    places: readonly DrawnGroup[],
    private readonly more: NonNullable<Budget["more"]>,
  ) {
    this.groups = places.map((drawn) => ({ drawn, rollouts: 0, rows: [] }));
    this.byName = new Map(this.groups.map((one) => [one.drawn.group, one]));
  }

  private get size(): number {
    return this.context.stage.config.body.rollout.group;
  }

  async rollOut(): Promise<Scored> {
    let scored = await this.grow(this.groups.map(({ drawn }) => drawn.rollouts ?? this.size));
    for (let wanted = this.wanted(scored); wanted.some((n) => n > 0); wanted = this.wanted(scored))
      scored = await this.grow(wanted);
    return scored;
  }

  /** So many more rollouts of each group. @returns all rollouts so far, group by group */
  private async grow(wanted: readonly number[]): Promise<Scored> {
    const drafting = draftingOf(this.context);
    const drafts = this.groups.flatMap((one, i) =>
      Array.from({ length: wanted[i]! }, () => plainDraft(one.drawn, one.rollouts++, drafting)),
    );
    const lot = await generateAndScore(this.context, drafts);
    // A rollout may be several rows, so they are found by their group's name.
    lot.batch.records.forEach(({ group }, row) =>
      this.byName.get(group)!.rows.push({ lot: this.lots.length, row }),
    );
    this.lots.push(lot);
    return chosenRows(
      this.lots,
      this.groups.flatMap(({ rows }) => rows),
    );
  }

  private wanted({ batch, columns }: Scored): number[] {
    const { stage, clock } = this.context;
    const found = groupsOf(batch, stage.algorithm.rewards(columns, batch, clock));
    const so = { lots: this.lots.length, size: this.size };
    return this.groups.map(({ rollouts }, i) => this.more(found[i]!, { ...so, rollouts }));
  }
}
