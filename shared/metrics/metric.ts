/** What is known of a metric besides its values. */

export interface Metric {
  /** May hold `<term>`, `<model>`, `<arm>`, `<phase>`, `<n>` or `@k`. */
  readonly name: string;
  readonly unit: "" | "fraction" | "nats" | "tokens" | "seconds" | "count" | "bytes";
  /** Which way is good; null: neither. */
  readonly better: "higher" | "lower" | null;
  readonly range?: readonly [number, number];
  readonly summary: string;
  readonly aliases?: Readonly<Partial<Record<"trl" | "verl" | "openrlhf" | "prime_rl", readonly string[]>>>;
}
