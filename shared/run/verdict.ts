/**
 * What a run comes to: is it learning, and if not, why, and what to change. One object for every place that says it: panel,
 * tree, lens, notification, `runs show`, the last lines of `run`, `--json`.
 */
import type { Json } from "../lib/json.ts";

/** From the commonest to the most serious. Every other than the first four is an alarm. */
export const verdictStates = [
  "too early",
  "cannot tell",
  "learning",
  "flat",
  "starved",
  "hacking",
  "collapsed",
  "unstable",
  "stalled",
  "failing",
] as const;
export type VerdictState = (typeof verdictStates)[number];

/** A shape before a state wherever it is written, so that colour is never all that tells states apart. */
export const verdictMarks: Readonly<Record<VerdictState, string>> = {
  "too early": "…",
  "cannot tell": "?",
  learning: "✔",
  flat: "▬",
  starved: "▲",
  hacking: "✖",
  collapsed: "✖",
  unstable: "▲",
  stalled: "▲",
  failing: "✖",
};

const quiet: ReadonlySet<VerdictState> = new Set(["too early", "cannot tell", "learning", "flat"]);
/** Something is wrong, and training on does not mend it. No advice on tuning is given next to one. */
export const isAlarm = (state: VerdictState): boolean => !quiet.has(state);

export interface VerdictLabel {
  readonly state: VerdictState;
  /** Two to four words, e.g. "collapsed at 318", "hacking `brevity`". */
  readonly label: string;
  /** The step at which it began; null where it has no beginning. */
  readonly since: number | null;
}

/** What rows and lists say of a run. */
export interface VerdictBrief extends VerdictLabel {
  /** One sentence, with the numbers that decide. */
  readonly headline: string;
  /** A person found it wrong. */
  readonly dismissed?: { readonly reason: string; readonly at: string };
}

/** A state that the run was in before, or is in. */
export interface VerdictSpan extends VerdictLabel {
  /** First and last step at which this was the verdict. */
  readonly from: number;
  readonly to: number;
}

export interface VerdictCause {
  /** A reward term, where it is one. */
  readonly term: string | null;
  /** The key of the config that it is about, as `--set` addresses it; null: none. */
  readonly key: string | null;
  /** The effect is gone when the rollouts are scored again without it; else it is a companion only. */
  readonly shown: boolean;
}

/** A rollout to look at, and why this one. */
export interface VerdictRollout {
  readonly step: number;
  readonly group: string;
  readonly index: number;
  readonly why: string;
}

/** An edit of the config. */
export interface VerdictFix {
  /** As a button says it. */
  readonly title: string;
  /** Values to write, as `--set` addresses them. */
  readonly set: readonly { readonly path: string; readonly value: Json }[];
  /** What recorded rollouts say of it, scored again; null: it is unknown until tried. */
  readonly effect: string | null;
  /** What it does not solve. */
  readonly leaves: string | null;
}

export interface Verdict extends VerdictBrief {
  /** The last step that was read; nothing later is known. */
  readonly step: number;
  /** At most three sentences. */
  readonly details: readonly string[];
  /** What speaks against it. */
  readonly against: string | null;
  readonly cause: VerdictCause | null;
  readonly rollouts: readonly VerdictRollout[];
  readonly fixes: readonly VerdictFix[];
  /** How often such a verdict was wrong where it was measured; null: not measured. */
  readonly reliability: string | null;
  /** What the verdict was at earlier steps, and is: in order, without gaps. */
  readonly timeline: readonly VerdictSpan[];
}

/** The verdict of a run, where it is an alarm that was not dismissed. */
export const alarmOf = ({ verdict }: { readonly verdict?: VerdictBrief }): VerdictBrief | undefined =>
  verdict !== undefined && isAlarm(verdict.state) && verdict.dismissed === undefined ? verdict : undefined;

/** What a verdict says, for places that cannot set the names between its backticks apart. */
export const plainText = (text: string): string => text.replaceAll("`", "");
