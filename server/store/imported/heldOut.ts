/** Held-out results that trainers log, by data source, as the one evaluation that they are of a step. */
import type { EvaluationRecord } from "../../../shared/log/records.ts";
import { mean } from "../../../shared/lib/mean.ts";
import { fromWire, type WireNumber } from "../../../shared/rollouts/rollouts.ts";

interface Reading {
  /** Its groups: `source` (which data), `of` (which measure, or reward term), `k`. */
  readonly pattern: RegExp;
  /** Gradus's name; null: it is none of these after all. */
  readonly own: (found: Readonly<Partial<Record<"source" | "of" | "k", string>>>) => string | null;
}

const [pass, reward] = ["eval/pass@1", "eval/reward/total"];
/** verl calls a success `acc`; its other variables are rewards, or no results at all. */
const verlMeasure = ({ of = "" }): string | null =>
  of === "acc" ? pass : /^(reward|score)$/.test(of) ? reward : null;

/** The first that fits. Sources may have slashes (`openai/gsm8k`). */
const readings: readonly Reading[] = [
  {
    pattern: /^val-(?:core|aux)\/(?<source>.+)\/acc\/best@(?<k>\d+)\/mean$/,
    own: ({ k }) => `eval/pass@${k}`,
  },
  { pattern: /^val-(?:core|aux)\/(?<source>.+)\/(?<of>[^/]+)\/mean(?:@\d+)?$/, own: verlMeasure },
  { pattern: /^eval\/(?<of>pass@\d+|greedy|reward\/[^/]+)$/, own: ({ of }) => `eval/${of}` },
  // verl to 0.2, and skyrl's and prime-rl's means of scores.
  { pattern: /^val\/test_score\/(?<source>.+)$/, own: () => reward },
  { pattern: /^eval\/(?<source>.+)\/(?:avg_score|avg@\d+)$/, own: () => reward },
  { pattern: /^eval\/(?<source>.+?)[_/]pass_?(?:at_|@)?(?<k>\d+)$/, own: ({ k }) => `eval/pass@${k}` },
  { pattern: /^val_correct\/(?<source>.+?)(?:\/mean)?$/, own: () => pass },
  // TRL's; trackers write `eval/` where it writes `eval_`.
  { pattern: /^eval[_/]reward$/, own: () => reward },
  { pattern: /^eval[_/]rewards\/(?<of>.+)\/mean$/, own: ({ of }) => `eval/reward/${of}` },
];

/** A mean over all sources that a trainer computes itself: it names that, or no source. */
const overall = /^(all|total|average|)$/;

/** Whether a trainer's name is of something that it measured on held-out tasks. */
export const isHeldOut = (name: string): boolean => /^(eval|val|test)[-_/]/.test(name) && !isEffort(name);

/** What an evaluation cost is no result of it. */
const isEffort = (name: string): boolean => /(runtime|per_second|^eval_(loss|steps|num_tokens))$/.test(name);

/**
 * Results under Gradus's names: means over the data sources, and `eval/<source>/pass@k` where there are several.
 * @param values as they were logged, of one step
 * @returns empty: nothing was measured that can be compared
 */
export function heldOutResults(
  values: Readonly<Record<string, WireNumber>>,
): Readonly<Record<string, number>> {
  const bySource = new Map<string, Map<string, number>>();
  for (const [name, wire] of Object.entries(values)) {
    const found = readingOf(name);
    const value = fromWire(wire);
    if (found === undefined || !Number.isFinite(value)) continue;
    // What is no share of tasks is a score.
    const own = found.own === pass && (value < 0 || value > 1) ? reward : found.own;
    const sources = bySource.get(own) ?? new Map<string, number>();
    sources.set(found.source, value);
    bySource.set(own, sources);
  }
  return Object.fromEntries([...bySource].flatMap(([own, sources]) => byOwn(own, sources)));
}

function byOwn(own: string, sources: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  const single = [...sources].filter(([source]) => !overall.test(source));
  const whole =
    [...sources].find(([source]) => overall.test(source))?.[1] ?? mean(single.map(([, value]) => value));
  const parts = own.startsWith("eval/pass@") && single.length > 1 ? single : [];
  return [
    [own, whole],
    ...parts.map(([source, value]) => [`eval/${source}/${own.slice("eval/".length)}`, value] as const),
  ];
}

function readingOf(name: string): { readonly own: string; readonly source: string } | undefined {
  for (const { pattern, own } of readings) {
    const groups = pattern.exec(name)?.groups;
    if (groups === undefined && !pattern.test(name)) continue;
    const found = own(groups ?? {});
    return found === null ? undefined : { own: found, source: groups?.["source"] ?? "" };
  }
  return undefined;
}

/** The evaluations of a run, step by step. */
export class HeldOutRecords {
  private first: number | undefined;

  /** None where nothing was measured at the step. @param time milliseconds since 1970 */
  of(step: number, time: number, values: Readonly<Record<string, WireNumber>>): readonly EvaluationRecord[] {
    const metrics = heldOutResults(values);
    if (Object.keys(metrics).length === 0) return [];
    this.first ??= step;
    return [{ kind: "evaluation", step, time, role: step === this.first ? "first" : "periodic", metrics }];
  }
}
