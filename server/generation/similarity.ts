/** How alike two texts are, by their letters: what stands in for an embedding. */
import type { Task } from "../seams.ts";

/** Counts of three characters in a row, case and blanks aside, as a vector of length 1. */
function profileOf(text: string): ReadonlyMap<string, number> {
  const letters = ` ${text.toLowerCase().replace(/\s+/g, " ").trim()} `;
  const counts = new Map<string, number>();
  for (let i = 0; i + 3 <= letters.length; i++) {
    const three = letters.slice(i, i + 3);
    counts.set(three, (counts.get(three) ?? 0) + 1);
  }
  const norm = Math.hypot(...counts.values());
  return new Map([...counts].map(([three, count]) => [three, count / norm]));
}

const cosine = (one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number => {
  let sum = 0;
  for (const [three, count] of one) sum += count * (other.get(three) ?? 0);
  return sum;
};

/** 0: nothing in common, 1: the same counts. */
export const similarity = (one: string, other: string): number => cosine(profileOf(one), profileOf(other));

/** exp(similarity of the prompts / temperature); the profiles are kept as long as the tasks are. */
export function kinship(temperature: number): (first: Task, other: Task) => number {
  const profiles = new WeakMap<Task, ReadonlyMap<string, number>>();
  const of = (task: Task): ReadonlyMap<string, number> => {
    const known = profiles.get(task) ?? profileOf(task.prompt);
    profiles.set(task, known);
    return known;
  };
  return (first, other) => Math.exp(cosine(of(first), of(other)) / temperature);
}
