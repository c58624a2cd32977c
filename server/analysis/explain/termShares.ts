/**
 * Each reward term's part of a rollout's advantage, as its Shapley value: the players are the terms, and a coalition is
 * worth the advantage that the rollout has when every rollout of its group is scored by the coalition's terms only.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import { toWire } from "../../../shared/rollouts/rollouts.ts";
import type { TermShare, TermShares } from "../../../shared/rollouts/why.ts";
import { rowValue, type Scores } from "../../algorithm/rewards/rewards.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { Stats } from "../../core/policy.ts";
import { status, type RewardColumn } from "../../core/reward.ts";
import type { Remember } from "./memory.ts";
import { algorithmOf, type RecordedStep } from "./recordedStep.ts";
import { rowAdvantage } from "./rowAdvantage.ts";
import { mostPlayers, shapley } from "./shapley.ts";
import { formatCount } from "../../../shared/lib/format.ts";

/** Token values that a few seconds allow: coalitions × tokens of the rows compared. */
const mostWork = 4e8;

interface SharesInput {
  /** The rows that are compared: those of the group, or of the step where the method looks at the whole batch. */
  readonly step: RecordedStep;
  readonly row: number;
  readonly scored: Scores;
  readonly old: Stats;
  readonly remember: Remember;
  /** The rollout's advantage. */
  readonly advantage: number;
}

const absent = (reason: string): TermShares => ({ kind: "none", reason });

export function termShares(input: SharesInput): TermShares {
  const { step, row, scored, advantage } = input;
  if (step.algorithm.takesRecorded)
    return absent("the config uses recorded advantages, which do not depend on rewards");
  if (Number.isNaN(advantage)) return absent("the rollout has no advantage for terms to share");
  const { terms, weights } = scored.rewards;
  const players = terms.flatMap((term, i) => (plays(term, weights[i]!) ? [i] : []));
  if (players.length > mostPlayers)
    return absent(
      `${players.length} terms have ${formatCount(2 ** players.length)} coalitions, but shares are computed for up to ${mostPlayers} terms: give some a weight of 0 with --set`,
    );
  const work = 2 ** players.length * step.batch.tokens.length;
  if (work > mostWork)
    return absent(
      `the advantage depends on all ${formatCount(step.batch.rows)} rollouts of the step, too many to compute it ${2 ** players.length} times`,
    );
  try {
    const { shares, none } = shapley(players.length, (coalition) =>
      worth(
        input,
        players.filter((_, at) => (coalition & (1 << at)) !== 0),
      ),
    );
    const share = (term: number): number => (players.includes(term) ? shares[players.indexOf(term)]! : 0);
    return {
      kind: "exact",
      terms: terms.map((term, i) => ({ ...facts(term, weights[i]!, row), share: share(i) })),
      rest: none,
    };
  } catch (error) {
    if (error instanceof UserError) return absent(error.message);
    throw error;
  }
}

/** A term that scored no rollout, or that weighs nothing, changes no coalition's worth. */
const plays = (term: RewardColumn, weight: number): boolean =>
  weight !== 0 && term.status.includes(status.value);

function facts(term: RewardColumn, weight: number, row: number): Omit<TermShare, "share"> {
  const value = rowValue(term, row);
  const failed = term.errors.get(row);
  const note =
    failed !== undefined
      ? `failed: ${failed}`
      : weight === 0
        ? "weight 0"
        : Number.isNaN(value)
          ? "does not apply"
          : null;
  return { term: term.name, weight, value: Number.isNaN(value) ? null : toWire(value), note };
}

/** The advantage with only some of the terms; 0 if these give the rollout none. */
function worth({ step, row, scored, old, remember }: SharesInput, coalition: readonly number[]): number {
  const { body, batch, clock } = step;
  const own = body.reward.terms.length;
  const only: StageBody = {
    ...body,
    reward: {
      ...body.reward,
      terms: body.reward.terms.map((term, i) => (coalition.includes(i) ? term : { ...term, weight: 0 })),
    },
  };
  const algorithm = algorithmOf(only);
  remember(algorithm);
  const columns = scored.rewards.terms.filter((_, i) => i < own || coalition.includes(i));
  const { combined } = algorithm.rewards(columns, batch, clock);
  const value = rowAdvantage(algorithm.advantages(combined, batch, old, clock), batch, row);
  return Number.isFinite(value) ? value : 0;
}
