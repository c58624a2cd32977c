/** What is found at a moment. */
import type { VerdictState } from "../../../shared/run/verdict.ts";
import type { Moment } from "./moment.ts";

/** What an alarm has found. */
export interface Alarmed {
  readonly state: Extract<VerdictState, "starved" | "hacking" | "collapsed" | "unstable" | "failing">;
  /** What it looks like, where a state has several looks. */
  readonly kind: string;
  /** The step at which it began. */
  readonly since: number;
  /** A reward term that has to do with it. */
  readonly term: string | null;
  /** Rests on held-out results, whose interval allows for chance already: it need not hold for steps. */
  readonly certain: boolean;
}
/** What an alarm sees at a step; when it began is looked for once it is raised. */
export type Sign = Omit<Alarmed, "since"> & { readonly since: () => number };
export type Alarm = (moment: Moment) => Sign | null;

/** No alarm: what held-out results say. */
export interface Quiet {
  readonly state: Extract<VerdictState, "too early" | "cannot tell" | "learning" | "flat">;
  readonly kind: string;
  readonly since: number | null;
  readonly term: null;
}
export type Finding = Alarmed | Quiet;
