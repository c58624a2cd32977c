/**
 * Groups of which some rollouts leave others (CURE): the first ones of all groups are written, each names the token
 * that its branches leave at, and the branches are written from there. What a branch took over is given and does not
 * train; all of a group are paid and compared together.
 */
import { firstsOf } from "../../../core/config/branchFacts.ts";
import { randomStream } from "../../../lib/random.ts";
import type { Branchable, Branching } from "../../../core/slots/branching.ts";
import { origin, type Batch } from "../../../core/rollouts.ts";
import type { Draft } from "./assemble.ts";
import type { Place } from "../context.ts";
import { longest } from "./decoding.ts";
import { plainDraft, type Drafting, type Place as GroupPlace } from "./generate.ts";
import { chosenOf, pay, write, type Paid, type RowOf } from "./paid.ts";

/** A branch that is to be written, and the row of the first rollouts that it leaves. */
interface Branch {
  readonly place: GroupPlace;
  readonly index: number;
  readonly parent: number;
}

/** Where the policy's own words of a row begin. */
function writtenFrom({ offsets, origin: origins }: Batch, row: number): number {
  let at = offsets[row]!;
  while (at < offsets[row + 1]! && origins[at] !== origin.written) at += 1;
  return at;
}

/** One round of a step: `n` counts its refills. */
export class BranchedRound {
  private readonly places: readonly {
    readonly place: GroupPlace;
    readonly size: number;
    readonly firsts: number;
  }[];

  constructor(
    private readonly place: Place,
    private readonly branching: Branching,
    places: readonly GroupPlace[],
    private readonly n: number,
  ) {
    const { group } = place.stage.config.body.rollout;
    this.places = places.map((one) => {
      const size = one.rollouts ?? group;
      return { place: one, size, firsts: firstsOf(size, branching.children) };
    });
  }

  async write(): Promise<Paid> {
    const drafts = this.places.flatMap(({ place, firsts }) =>
      Array.from({ length: firsts }, (_, index) => plainDraft(place, index, this.drafting)),
    );
    const first = await write(this.place, drafts);
    const wanted = this.branches();
    if (wanted.length === 0) return pay(this.place, first);
    const leaves = Array.from({ length: first.rows }, (_, row) => this.leave(first, row));
    this.tell(wanted.filter(({ parent }) => leaves[parent] === undefined).length);
    const later = await write(
      this.place,
      wanted.map((branch) => this.draft(branch, first, leaves[branch.parent])),
    );
    return pay(this.place, chosenOf([first, later], this.order()));
  }

  private get drafting(): Drafting {
    const { session, stage, step } = this.place;
    const asking = stage.config.body.rollout;
    return { policy: session.policy, key: ["rollout", step], use: "train", asking };
  }

  /** Of every group behind its first rollouts: the first one's branches, then the second's, and so on. */
  private branches(): Branch[] {
    const { children } = this.branching;
    let row = 0;
    return this.places.flatMap(({ place, size, firsts }) => {
      const begin = row;
      row += firsts;
      return Array.from({ length: size - firsts }, (_, i) => ({
        place,
        index: firsts + i,
        parent: begin + Math.floor(i / children),
      }));
    });
  }

  /** Rows of both lots, group by group. */
  private order(): RowOf[] {
    const at = [0, 0];
    return this.places.flatMap(({ size, firsts }) =>
      Array.from({ length: size }, (_, index): RowOf => {
        const lot = index < firsts ? 0 : 1;
        return { lot, row: at[lot]!++ };
      }),
    );
  }

  /** The token of a row, counted from its first, before which its branches leave it. */
  private leave(batch: Batch, row: number): number | undefined {
    const { session, step } = this.place;
    const [from, to] = [writtenFrom(batch, row), batch.offsets[row + 1]!];
    const { group, index } = batch.records[row]!;
    const written: Branchable = {
      tokens: batch.tokens.slice(from, to),
      entropy: batch.columns.entropy?.slice(from, to) ?? new Float64Array(to - from).fill(Number.NaN),
    };
    const random = randomStream(session.config.seed, "branching", step, this.n, group, index);
    const at = this.branching.leave(written, random, session.policy.tokenizer);
    return at === undefined ? undefined : from - batch.offsets[row]! + at;
  }

  /** A branch that has nowhere to leave begins where its task does. */
  private draft({ place, index, parent }: Branch, first: Batch, token: number | undefined): Draft {
    const plain = plainDraft(place, index, this.drafting);
    if (token === undefined) return plain;
    const start = first.offsets[parent]!;
    const prefix = first.tokens.slice(start, start + token);
    const own = start + token - writtenFrom(first, parent);
    const { tokenizer } = this.place.session.policy;
    return {
      ...plain,
      prompt: { ...plain.prompt, prefix, ...this.limit(own) },
      parent: { index: first.records[parent]!.index, token, text: tokenizer.decode(prefix) },
    };
  }

  /** @param taken tokens of its own that the branch's parent had written before it left */
  private limit(taken: number): { readonly max_tokens?: number } {
    if (this.branching.budget === "whole") return {};
    return {
      max_tokens: Math.max(1, longest(this.place.stage.config.body.rollout, this.place.clock) - taken),
    };
  }

  private tell(without: number): void {
    if (without === 0) return;
    this.place.session.recorder.event(
      "warning",
      "no-branch",
      `rollout.branch: ${without} ${without === 1 ? "branch" : "branches"} found no token to leave at. They begin where their tasks do.`,
      {
        step: this.place.step,
        action: "Lower `rollout.branch.min_characters`, or let responses be longer.",
        data: { count: without },
      },
    );
  }
}
