/**
 * Groups of which some rollouts leave others (CURE): the first ones of all groups are written, each names the token
 * that its branches leave at, and the branches are written from there. What a branch took over is given and does not
 * train; a group's rollouts are scored and compared together.
 */
import { firstsOf } from "../../../core/config/branchFacts.ts";
import { randomStream } from "../../../lib/random.ts";
import type { Branchable, Branching } from "../../../core/slots/branching.ts";
import { origin, type Batch } from "../../../core/rollouts.ts";
import type { Draft } from "./assemble.ts";
import type { Scored, StepContext } from "../context.ts";
import { longest } from "./decoding.ts";
import { draftingOf } from "./drafting.ts";
import { plainDraft, type DrawnGroup } from "./generate.ts";
import { chosenOf, score, type RowOf } from "../score/score.ts";
import { generate } from "./stepRollouts.ts";

/** A branch that is to be written, and the row of the first rollouts that it leaves. */
interface Branch {
  readonly group: DrawnGroup;
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
  private readonly groups: readonly {
    readonly group: DrawnGroup;
    readonly size: number;
    readonly firsts: number;
  }[];

  constructor(
    private readonly context: StepContext,
    private readonly branching: Branching,
    places: readonly DrawnGroup[],
    private readonly n: number,
  ) {
    const { group } = context.stage.config.body.rollout;
    this.groups = places.map((one) => {
      const size = one.rollouts ?? group;
      return { group: one, size, firsts: firstsOf(size, branching.children) };
    });
  }

  async rollOut(): Promise<Scored> {
    const drafts = this.groups.flatMap(({ group, firsts }) =>
      Array.from({ length: firsts }, (_, index) => plainDraft(group, index, draftingOf(this.context))),
    );
    const first = await generate(this.context, drafts);
    const wanted = this.branches();
    if (wanted.length === 0) return score(this.context, first);
    const leaves = Array.from({ length: first.rows }, (_, row) => this.leave(first, row));
    this.report(wanted.filter(({ parent }) => leaves[parent] === undefined).length);
    const later = await generate(
      this.context,
      wanted.map((branch) => this.draft(branch, first, leaves[branch.parent])),
    );
    return score(this.context, chosenOf([first, later], this.order()));
  }

  /** Of every group after its first rollouts: the first one's branches, then the second's, and so on. */
  private branches(): Branch[] {
    const { children } = this.branching;
    let row = 0;
    return this.groups.flatMap(({ group, size, firsts }) => {
      const begin = row;
      row += firsts;
      return Array.from({ length: size - firsts }, (_, i) => ({
        group,
        index: firsts + i,
        parent: begin + Math.floor(i / children),
      }));
    });
  }

  /** Rows of both lots, group by group. */
  private order(): RowOf[] {
    const at = [0, 0];
    return this.groups.flatMap(({ size, firsts }) =>
      Array.from({ length: size }, (_, index): RowOf => {
        const lot = index < firsts ? 0 : 1;
        return { lot, row: at[lot]!++ };
      }),
    );
  }

  /** The token of a row, counted from its first, before which its branches leave it. */
  private leave(batch: Batch, row: number): number | undefined {
    const { session, step } = this.context;
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
  private draft({ group, index, parent }: Branch, first: Batch, token: number | undefined): Draft {
    const plain = plainDraft(group, index, draftingOf(this.context));
    if (token === undefined) return plain;
    const start = first.offsets[parent]!;
    const prefix = first.tokens.slice(start, start + token);
    const own = start + token - writtenFrom(first, parent);
    const { tokenizer } = this.context.session.policy;
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
      max_tokens: Math.max(1, longest(this.context.stage.config.body.rollout, this.context.clock) - taken),
    };
  }

  private report(without: number): void {
    if (without === 0) return;
    this.context.session.recorder.event(
      "warning",
      "no-branch",
      `rollout.branch: ${without} ${without === 1 ? "branch" : "branches"} found no token to branch at. They begin at the prompt instead.`,
      {
        step: this.context.step,
        action: "Lower `rollout.branch.min_characters`, or allow longer responses.",
        data: { count: without },
      },
    );
  }
}
