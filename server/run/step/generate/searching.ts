/**
 * Groups that are searched: each is a tree of steps, and every round one rollout or some leave a state that the search
 * names, are written to their end, and tell it what they are worth. What a rollout took over is given and does not
 * train; a group's rollouts are scored again and compared together when all are there.
 */
import { randomStream } from "../../../lib/random.ts";
import { origin, type Batch } from "../../../core/rollouts.ts";
import type { Searching, TreeSearch } from "../../../core/slots/branching.ts";
import type { Scored, StepContext } from "../context.ts";
import { chosenOf, score, type RowOf } from "../score/score.ts";
import type { Draft } from "./assemble.ts";
import { longest } from "./decoding.ts";
import { dividedIn } from "./divide.ts";
import { rewardsOf } from "./estimates.ts";
import { draftingOf } from "./drafting.ts";
import { plainDraft, type DrawnGroup } from "./generate.ts";
import { generate } from "./stepRollouts.ts";

interface SearchedGroup {
  readonly group: DrawnGroup;
  readonly size: number;
  readonly search: TreeSearch;
  /** By place in the group: where the rollout is. */
  readonly rows: RowOf[];
  /** Where the policy's own words begin; the same in all rollouts of the group. */
  begin: number;
}

/** One round of a step: `n` counts its refills. */
export class SearchedRound {
  private readonly groups: readonly SearchedGroup[];
  private readonly lots: Batch[] = [];

  constructor(
    private readonly context: StepContext,
    private readonly searching: Searching,
    places: readonly DrawnGroup[],
    private readonly n: number,
  ) {
    const { group } = context.stage.config.body.rollout;
    this.groups = places.map((one) => ({
      group: one,
      size: one.rollouts ?? group,
      search: searching.begin(),
      rows: [],
      begin: 0,
    }));
  }

  async rollOut(): Promise<Scored> {
    for (let open = this.open(); open.length > 0; open = this.open()) {
      const placed = open.flatMap((group) => this.draftsOf(group).map((draft) => ({ group, draft })));
      const written = dividedIn(
        this.context,
        await generate(
          this.context,
          placed.map(({ draft }) => draft),
        ),
      );
      const values = await rewardsOf(this.context, written, this.searching.by);
      placed.forEach(({ group }, row) => this.learn(group, written, row, values[row]!));
      this.lots.push(written);
    }
    const order = this.groups.flatMap(({ rows }) => rows);
    return score(this.context, chosenOf(this.lots, order));
  }

  private open(): SearchedGroup[] {
    return this.groups.filter(({ rows, size }) => rows.length < size);
  }

  private draftsOf({ group, size, search, rows, begin }: SearchedGroup): Draft[] {
    const { session, step } = this.context;
    const wanted = Math.min(this.searching.parallel, size - rows.length);
    return Array.from({ length: wanted }, (_, k) => {
      const index = rows.length + k;
      const plain = plainDraft(group, index, draftingOf(this.context));
      const random = randomStream(session.config.seed, "search", step, this.n, plain.group, index);
      const place = search.next(random);
      return place === undefined ? plain : this.leaving(plain, rows[place.index]!, place, begin);
    });
  }

  private leaving(
    plain: Draft,
    { lot, row }: RowOf,
    place: { readonly index: number; readonly token: number },
    begin: number,
  ): Draft {
    const { session, stage, clock } = this.context;
    const batch = this.lots[lot]!;
    const start = batch.offsets[row]!;
    const prefix = batch.tokens.slice(start, start + place.token);
    const max_tokens = Math.max(1, longest(stage.config.body.rollout, clock) - (place.token - begin));
    return {
      ...plain,
      prompt: { ...plain.prompt, prefix, max_tokens },
      parent: { ...place, text: session.policy.tokenizer.decode(prefix) },
    };
  }

  private learn(group: SearchedGroup, batch: Batch, row: number, value: number): void {
    const { index, parent } = batch.records[row]!;
    if (parent === undefined) group.begin = writtenFrom(batch, row);
    group.rows.push({ lot: this.lots.length, row });
    group.search.add({ index, parent, ends: this.endsOf(batch, row, group.begin), value });
  }

  /** Where the steps of a row end. */
  private endsOf({ records, offsets }: Batch, row: number, begin: number): number[] {
    const length = offsets[row + 1]! - offsets[row]!;
    const { steps } = records[row]!;
    const { stride } = this.searching;
    const inside =
      steps?.map(([, end]) => end) ??
      Array.from({ length: Math.ceil((length - begin) / stride) }, (_, k) => begin + (k + 1) * stride);
    return [...inside.filter((end) => end > begin && end < length), length];
  }
}

function writtenFrom({ offsets, origin: origins }: Batch, row: number): number {
  const start = offsets[row]!;
  let at = start;
  while (at < offsets[row + 1]! && origins[at] !== origin.written) at += 1;
  return at - start;
}
