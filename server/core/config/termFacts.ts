/** Reward terms that read what other terms gave, and which terms decide what is a success. */
import type { RewardTermConfig, StageBody } from "./resolved.ts";

/** A term that another reads: by its name; undefined: the terms that decide a success. */
export type ReadTerm = string | undefined;

export const readsOf = ({ term }: RewardTermConfig): readonly ReadTerm[] =>
  term.declaration.reads?.(term.params) ?? [];

/** Whether a term looks at what is answered or only at how; one that reads whether a response is correct looks at both. */
export const judgesOf = (term: RewardTermConfig): "answer" | "form" | undefined =>
  readsOf(term).length > 0 ? "answer" : term.term.declaration.judges;

const reads = (term: RewardTermConfig): boolean => readsOf(term).length > 0;

/**
 * Terms that decide whether a rollout is a success, in order: the first that applies to it does. Where the config names
 * none, a term that reads others decides only where all do.
 */
export function decidingOrder({ terms, success, gold }: StageBody["reward"]): readonly RewardTermConfig[] {
  if (success.terms !== undefined)
    return success.terms.flatMap((name) => terms.filter((term) => term.name === name));
  const trained = terms.filter(({ name }) => !gold.includes(name));
  const own = trained.filter((term) => !reads(term));
  return own.length === 0 ? trained : own;
}

/** What a term reads where it names nothing: the deciding terms that read no other. */
export const plainDeciding = (reward: StageBody["reward"]): readonly RewardTermConfig[] => {
  const found = decidingOrder(reward).filter((term) => !reads(term));
  return found.length > 0 ? found : reward.terms.filter((term) => !reads(term));
};

/** The terms whose values a term needs, directly or through others. */
export function neededBy(term: RewardTermConfig, reward: StageBody["reward"]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [term];
  for (let one = open.pop(); one !== undefined; one = open.pop())
    for (const name of readsOf(one)) {
      const named =
        name === undefined ? plainDeciding(reward) : reward.terms.filter((other) => other.name === name);
      for (const other of named)
        if (!found.has(other.name)) {
          found.add(other.name);
          open.push(other);
        }
    }
  return found;
}
