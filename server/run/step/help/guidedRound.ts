/**
 * The groups of a round with their help. Members that the trigger chooses before anything is written are written with
 * help at once; where it looks at the rewards of plain rollouts, those are generated first. Then come as many rounds of
 * help as the amount asks for, all groups of a round at once.
 */
import type { Guide } from "./guide.ts";
import type { GuidanceTally, Scored, StepContext } from "../context.ts";
import { outcome } from "../../../algorithm/rewards/rewards.ts";
import { randomStream, type Random } from "../../../lib/random.ts";
import type { HelpCurve } from "../../../core/help.ts";
import type { Help, HelpRequest, Lack } from "../../../core/slots/guidance.ts";
import { HelpedGroup, type Target } from "./helpedGroup.ts";
import type { Draft } from "../generate/assemble.ts";
import { draftingOf } from "../generate/drafting.ts";
import { helpedDraft, plainDraft, type DrawnGroup } from "../generate/generate.ts";
import { StepHelp } from "./stepHelp.ts";
import { chosenRows, generateAndScore } from "../score/score.ts";

/** A request with where its answer goes. */
interface TargetRequest extends HelpRequest {
  readonly group: HelpedGroup;
  readonly target: Target;
  readonly curve?: HelpCurve | undefined;
}

/** One round of a step: `n` counts its refills. */
export class GuidedRound {
  private readonly lots: Scored[] = [];
  private readonly groups: readonly HelpedGroup[];
  private readonly help: StepHelp;
  private readonly lacks = new Map<string, number>();

  constructor(
    private readonly context: StepContext,
    private readonly guide: Guide,
    places: readonly DrawnGroup[],
    private readonly n: number,
  ) {
    const { group: size } = context.stage.config.body.rollout;
    this.groups = places.map((where) => new HelpedGroup(where, where.rollouts ?? size, guide.config));
    const plain = guide.looksAfter ? this.groups.reduce((sum, group) => sum + group.size, 0) : 0;
    this.help = new StepHelp(context, plain);
  }

  async rollOut(): Promise<Scored> {
    if (this.guide.looksAfter) {
      await this.writeLot(this.groups.flatMap((group) => this.plainDrafts(group, group.members)));
      this.groups.forEach((group) => {
        group.attempted(this.lots, this.context);
        this.choose(group);
      });
      await this.rounds(0);
    } else {
      this.groups.forEach((group) => this.choose(group));
      const plain = this.groups.flatMap((group) => this.plainDrafts(group, group.unhelped));
      await this.rounds(0, plain);
    }
    this.report();
    this.guide.source.learned?.(this.outcome);
    const chosen = this.groups.flatMap((group) => group.rows);
    const kept = chosenRows(this.lots, chosen);
    return { ...kept, guidance: this.tally(kept) };
  }

  private choose(group: HelpedGroup): void {
    const { session, step, clock } = this.context;
    const random = randomStream(session.config.seed, "guidance", step, this.n, group.name);
    group.choose(
      this.guide.trigger.members(
        { task: group.drawn.task, size: group.size, ...(group.success && { success: group.success }) },
        { clock, random },
      ),
    );
  }

  /** Rounds of help until no group wants more. @param plain drafts generated together with the first of them */
  private async rounds(first: number, plain: readonly Draft[] = []): Promise<void> {
    let waiting = plain;
    for (let round = first; round < this.guide.amount.rounds; round++) {
      const asked = this.groups.flatMap((group) => this.askFor(group, round));
      if (asked.length + waiting.length === 0) return;
      const help = asked.length === 0 ? [] : await this.guide.source.help(asked, this.help);
      const drafts = asked.flatMap((one, i) => this.draft(one, help[i], round));
      await this.writeLot([...waiting, ...drafts]);
      for (const group of this.groups) group.learned(this.lots, this.context, this.guide.amount.spread);
      waiting = [];
    }
  }

  private askFor(group: HelpedGroup, round: number): TargetRequest[] {
    const { amount, source } = this.guide;
    const { session, step, clock } = this.context;
    const targets = group.targetsOf(round, amount);
    const shared = (): Random =>
      randomStream(session.config.seed, "help", "guided", step, group.name, "shared", this.n);
    return targets.flatMap((target): TargetRequest[] => {
      const key = ["guided", step, group.name, target.slot, round];
      const random = randomStream(session.config.seed, "help", ...key, this.n);
      const wanted = amount.share({
        task: group.drawn.task,
        member: target.member,
        members: group.targets.length,
        round,
        earlier: group.earlier,
        clock,
        steps: this.context.stage.config.steps,
        random: random.fork("amount"),
        shared: shared(),
      });
      if (wanted === undefined) return [];
      const { task } = group.drawn;
      const attempt =
        source.reads === "attempt" ? group.attempt(target, this.lots, this.help.tokenizer) : undefined;
      return [
        { ...wanted, task, member: target.member, random, key, group, target, ...(attempt && { attempt }) },
      ];
    });
  }

  /** The helped rollout, or a plain one where there is no help and nothing was written for its place. */
  private draft(asked: TargetRequest, help: Help | Lack | undefined, round: number): Draft[] {
    const { group, target, share, curve, attempt } = asked;
    const { config } = this.guide;
    if (help !== undefined && !("lack" in help)) {
      const record = {
        use: config.source.declaration.name,
        ...(help.by !== undefined && { by: help.by }),
        ...(this.divisible && { share }),
        round,
        ...(attempt && { error_rate: attempt.error_rate }),
        ...(curve && { curve }),
      };
      const made = helpedDraft(
        group.drawn,
        target.slot,
        help,
        { ...draftingOf(this.context), key: ["guided", this.context.step, round] },
        { record, strip: config.context === "strip", trains: config.trains },
      );
      if (made !== undefined) {
        group.expect(target, share);
        return [made];
      }
    }
    if (help !== undefined && "lack" in help && help.wanted === true) return this.without(group, target);
    const reason =
      help === undefined || !("lack" in help)
        ? "the help and the prompt fill the model's context"
        : help.lack;
    this.lacks.set(reason, (this.lacks.get(reason) ?? 0) + 1);
    return this.without(group, target);
  }

  /** A plain rollout where there is none in its place. */
  private without(group: HelpedGroup, target: Target): Draft[] {
    const stays = group.has(target) || this.guide.config.place === "append";
    return stays ? [] : this.plainDrafts(group, [target.slot]);
  }

  private get outcome(): { readonly rollouts: number; readonly successes: number } {
    const rounds = this.groups.flatMap(({ rounds: own }) => own);
    return {
      rollouts: rounds.reduce((sum, { rollouts }) => sum + rollouts, 0),
      successes: rounds.reduce((sum, { successes }) => sum + successes, 0),
    };
  }

  private get divisible(): boolean {
    const { declaration, params } = this.guide.config.source;
    return declaration.offers?.(params).divisible === true;
  }

  private plainDrafts(group: HelpedGroup, members: readonly number[]): Draft[] {
    return members.map((index) => plainDraft(group.drawn, index, draftingOf(this.context)));
  }

  /** Generates and scores drafts, and hands every group its rows. */
  private async writeLot(drafts: readonly Draft[]): Promise<void> {
    if (drafts.length === 0) return;
    const lot = await generateAndScore(this.context, drafts);
    this.lots.push(lot);
    const byName = new Map(this.groups.map((group) => [group.name, group]));
    lot.batch.records.forEach(({ group, index }, row) =>
      byName.get(group)!.took(index, { lot: this.lots.length - 1, row }),
    );
  }

  /** Each reason for which there was no help once a step. */
  private report(): void {
    const { session, step, stage } = this.context;
    const source = stage.config.body.guidance.source.declaration.name;
    for (const [reason, count] of this.lacks)
      session.recorder.event(
        "warning",
        "no-help",
        `guidance.source: ${source} had no help for ${count} ${count === 1 ? "rollout" : "rollouts"}: ${reason}. They stay without help.`,
        {
          step,
          action:
            "Choose a source that these tasks have, less of it (`guidance.amount`), or a model with a longer context.",
          data: { count },
        },
      );
  }

  private tally({ batch }: Scored): GuidanceTally {
    const all = this.lots.reduce((sum, lot) => sum + lot.batch.tokens.length, 0);
    const plain = this.groups.map(({ success }) => success ?? new Uint8Array(0));
    return {
      groups: this.groups.length,
      helped: this.groups.filter(({ helped }) => helped).length,
      plain: plain.reduce((sum, one) => sum + one.length, 0),
      plain_successes: plain.reduce(
        (sum, one) => sum + one.filter((value) => value === outcome.right).length,
        0,
      ),
      extra_tokens: all - batch.tokens.length + this.help.written,
    };
  }
}
