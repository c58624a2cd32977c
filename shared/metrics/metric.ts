/** What is known of a metric besides its values. */
import type { Namer } from "../run/trainers.ts";

export interface Metric {
  /** May hold `<term>`, `<model>`, `<arm>`, `<phase>`, `<n>` or `@k`. */
  readonly name: string;
  readonly unit: "" | "fraction" | "nats" | "tokens" | "seconds" | "count" | "bytes";
  /** Which way is good; null: neither. */
  readonly better: "higher" | "lower" | null;
  readonly range?: readonly [number, number];
  readonly summary: string;
  /** Runs of other trainers alone have it: no config can ask for it. */
  readonly imported?: true;
  /** Its names in other trainers' logs. */
  readonly aliases?: Readonly<Partial<Record<Namer, readonly string[]>>>;
}

/** A metric without a unit, of which neither way is good, unless `facts` say otherwise. */
export const metric = (name: string, summary: string, facts: Partial<Metric> = {}): Metric => ({
  name,
  unit: "",
  better: null,
  summary,
  ...facts,
});

/** From 0 to 1. */
export const fraction = (name: string, summary: string, facts: Partial<Metric> = {}): Metric =>
  metric(name, summary, { unit: "fraction", range: [0, 1], ...facts });
