/** What an evaluation saw of each held-out task: two evaluations of the same tasks can be compared in pairs. */

/** Arrays as long as each other: an entry a task, in the order in which they were asked. */
export interface TaskResults {
  /** Ids. */
  readonly tasks: readonly string[];
  readonly arms: readonly string[];
  /** Sampled answers that could be scored, and those of them that were right. */
  readonly samples: readonly number[];
  readonly right: readonly number[];
  /** Whether the greedy answer was right: 1 or 0; null where none was asked for or it could not be scored. */
  readonly greedy: readonly (number | null)[];
  /** What each term of `reward.gold` gave the greedy answers; null where it gave none. */
  readonly gold?: Readonly<Record<string, readonly (number | null)[]>>;
}

/** The same tasks of two evaluations, in the order of the first: which place each has in either. */
export function sameTasks(
  first: TaskResults,
  second: TaskResults,
): readonly { readonly first: number; readonly second: number }[] {
  const places = new Map(second.tasks.map((id, place) => [id, place]));
  return first.tasks.flatMap((id, place) => {
    const other = places.get(id);
    return other === undefined ? [] : [{ first: place, second: other }];
  });
}
