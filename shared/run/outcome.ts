/**
 * What a run that has ended came to, as far as its numbers alone tell: three rules, computed once in the store and reported
 * in the same words everywhere. `finished` says that a run got to its end, not that it trained anything.
 */
import { formatCount, formatFraction, plural } from "../lib/format.ts";
import { shareDifference } from "../lib/proportions.ts";
import { placeText, shortFailure } from "../rollouts/failureText.ts";

type WarningReason = "nothing-trained" | "rewards-failed" | "held-out-worse";
export interface RunWarning {
  readonly reason: WarningReason;
  /** Two or three words, for a row. */
  readonly label: string;
  /** Sentences. */
  readonly message: string;
}

/** One message of a reward term, and how often it came. */
export interface RewardFailure {
  readonly term: string;
  readonly message: string;
  /** Rollouts. */
  readonly count: number;
  /** Steps in which it came first and last. */
  readonly first: number;
  readonly last: number;
  readonly file: string | null;
  /** Of a notebook: the cell that the line is in. */
  readonly cell?: number;
  readonly line: number | null;
  readonly column: number | null;
}

export interface RunFacts {
  /** Steps that wrote rollouts; where a run has none, all steps that train. */
  readonly steps: number;
  /** Whether these are steps with rollouts. */
  readonly rolledOut: boolean;
  /** Tokens that entered a gradient in these steps; null: not recorded. */
  readonly trained: number | null;
  /** Groups that reached training; null: not recorded. */
  readonly admitted: number | null;
  /** Whether some gradient was not 0; null: none was recorded. */
  readonly moved: boolean | null;
  readonly rollouts: number;
  /** Over these steps, shares of the groups without a right answer and of the responses that were truncated, and at how many tokens. */
  readonly wrong?: number | null;
  readonly truncated?: number | null;
  readonly limit?: number | null;
  /** By term, the rollouts on which it failed. */
  readonly failed: Readonly<Record<string, number>>;
  /** The most frequent first. */
  readonly failures: readonly RewardFailure[];
  readonly evaluations: readonly {
    readonly step: number;
    readonly metrics: Readonly<Record<string, number>>;
  }[];
  /** Held-out tasks of an evaluation; null: unknown. */
  readonly prompts: number | null;
}

/** A term that fails on this share of the rollouts decides what is left to train on. */
export const mostRewards = 0.5;
/** Standard errors that a fall must exceed: chance alone does so for one measure in some 700. */
const certain = 3;

/** The most serious first. */
export const warningsOf = (facts: RunFacts): readonly RunWarning[] =>
  [nothingTrained(facts), rewardsFailed(facts), heldOutWorse(facts)].filter((one) => one !== null);

function nothingTrained(facts: RunFacts): RunWarning | null {
  const { steps, rolledOut, trained, admitted, moved } = facts;
  if (steps === 0) return null;
  const none = trained === null ? admitted === 0 : trained === 0;
  if (!none && moved !== false) return null;
  const why = none ? whyNothing(facts) : "every gradient was 0";
  const over = `${rolledOut ? "the " : ""}${plural(steps, "step")}${rolledOut ? " with rollouts" : ""}`;
  return {
    reason: "nothing-trained",
    label: "nothing trained",
    message: `Nothing was trained in ${over}${why === null ? "" : `: ${why}`}.`,
  };
}

function whyNothing(facts: RunFacts): string | null {
  const { admitted, rollouts, failed, failures } = facts;
  const worst = worstTerm(failed);
  if (worst !== null && worst.count >= rollouts * mostRewards)
    return `\`${worst.term}\` failed on ${of(worst.count, rollouts)}${said(worst.term, failures)}`;
  if (admitted !== 0) return null;
  const cause = whyRejected(facts);
  return cause === null ? "no group was admitted" : `no group was admitted, ${cause}`;
}

/** Shares from which on they are the cause. */
const nearlyAll = 0.9;

function whyRejected({ wrong = null, truncated = null, limit = null }: RunFacts): string | null {
  if (truncated !== null && truncated >= nearlyAll)
    return `and ${formatFraction(truncated)} of responses were truncated${limit === null ? "" : ` at ${plural(limit, "token")}`}. Raise \`rollout.max_tokens\``;
  return wrong !== null && wrong >= nearlyAll
    ? `since in ${formatFraction(wrong)} of groups no answer was right. Begin with easier tasks, or with a warm-up (a stage of \`kind: sft\`)`
    : null;
}

function rewardsFailed({ rollouts, failed, failures }: RunFacts): RunWarning | null {
  const worst = worstTerm(failed);
  if (worst === null || rollouts === 0 || worst.count < rollouts * mostRewards) return null;
  return {
    reason: "rewards-failed",
    label: worst.count >= rollouts ? "every reward failed" : "most rewards failed",
    message: `\`${worst.term}\` failed on ${of(worst.count, rollouts)}${said(worst.term, failures)}. A rollout whose reward fails is left out of its group.`,
  };
}

function worstTerm(failed: RunFacts["failed"]): { readonly term: string; readonly count: number } | null {
  const [worst] = Object.entries(failed).sort(([, one], [, other]) => other - one);
  return worst === undefined || worst[1] === 0 ? null : { term: worst[0], count: worst[1] };
}

/** ": threw Error: no answer (reward.ts:3)", the most frequent message of a term. */
export function said(term: string, failures: readonly RewardFailure[]): string {
  const own = failures.filter((failure) => failure.term === term);
  const [first] = own;
  if (first === undefined) return "";
  const place = placeText(first);
  const more = own.length === 1 ? "" : `, and ${plural(own.length - 1, "other message")}`;
  return `: ${shortFailure(first.message)}${place === null ? "" : ` (${place})`}${more}`;
}

/** The held-out metrics that summarise a run, without those of single arms. */
export const heldOutNames = (metrics: Readonly<Record<string, number>>): readonly string[] =>
  Object.keys(metrics)
    .filter((name) => /^eval\/(pass@\d+|greedy)$/.test(name))
    .sort((one, other) => rank(one) - rank(other));
const rank = (name: string): number => Number(/@(\d+)$/.exec(name)?.[1] ?? Number.MAX_SAFE_INTEGER);

function heldOutWorse({ evaluations, prompts }: RunFacts): RunWarning | null {
  const [first, last] = [evaluations[0], evaluations.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  const names = heldOutNames(last.metrics);
  const fell = names.filter((name) =>
    fellBeyondChance(first.metrics[name] ?? Number.NaN, last.metrics[name] ?? Number.NaN, prompts ?? 1),
  );
  if (fell.length === 0) return null;
  const change = (name: string): string =>
    `${name.slice("eval/".length)} ${formatFraction(first.metrics[name] ?? null, 1)} → ${formatFraction(last.metrics[name] ?? null, 1)}`;
  const others = names.filter((name) => !fell.includes(name) && first.metrics[name] !== undefined);
  return {
    reason: "held-out-worse",
    label: "held-out got worse",
    message: `Held-out results got worse by more than chance: ${fell.map(change).join(", ")}${prompts === null ? "" : ` (${plural(prompts, "task")})`}.${others.length === 0 ? "" : ` Also: ${others.map(change).join(", ")}.`}`,
  };
}

/**
 * Whether a share of `n` tasks fell by more than chance explains: the interval of the difference by Newcombe's method,
 * out of Wilson's intervals of both shares, which holds for shares near 0 and 1 too. The tasks are the same ones both
 * times, so chance explains less than this allows.
 */
export function fellBeyondChance(before: number, after: number, n: number): boolean {
  return before > after && n >= 1 && shareDifference(before, after, n, certain).high < 0;
}

const of = (part: number, all: number): string =>
  part >= all ? `all ${plural(all, "rollout")}` : `${formatCount(part)} of ${plural(all, "rollout")}`;
