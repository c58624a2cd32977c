/** Arms that are sets of tasks: a source's values, whole sources, or everything. */
import { valueAt, type Scheduled } from "../../../core/schedule.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import type { TaskSource } from "../../../core/slots/tasks.ts";
import type { Arm, Clock } from "../../../core/basics.ts";
import { NamedArms } from "../armSet.ts";
import type { Arms, Division, SourceOf } from "../../../core/slots/curriculum.ts";

/** Where an arm's tasks come from; undefined stands for any value of the source. */
interface Member extends SourceOf {
  readonly value: string | undefined;
}

/** The arm of a source's value; undefined: the source does not divide its tasks, or not this one. */
export type Naming = (source: TaskSource, value: string | undefined) => Arm;

/** One arm per name, drawing from every value that has it. A source of which all values have one name is drawn whole. */
export const divisionBy =
  (naming: Naming): Arms =>
  (sources) =>
    new NamedDivision(sources, naming);

class NamedDivision implements Division {
  readonly arms: NamedArms;
  private readonly members: readonly (readonly Member[])[];

  constructor(
    private readonly sources: readonly SourceOf[],
    private readonly naming: Naming,
  ) {
    const members = membersOf(sources, naming);
    this.arms = new NamedArms([...members.keys()]);
    this.members = [...members.values()];
  }

  get families(): readonly Arm[] {
    return this.arms.names;
  }
  familyOf(task: Task): Arm {
    const found = this.sources.find(({ source }) => source.name === task.source);
    return found === undefined ? task.source : this.naming(found.source, found.source.valueOf(task));
  }
  armOf(task: Task): number {
    return this.arms.find(this.familyOf(task));
  }

  filling(arm: number): boolean {
    return (this.members[arm] ?? []).some(({ source }) => source.grows === true);
  }
  prior(arm: number, clock: Clock): number {
    return (this.members[arm] ?? []).reduce((sum, { config }) => sum + valueAt(config.weight, clock), 0);
  }

  /** Within an arm a source is drawn by weight; one that is used up gives its turn to the others. */
  draw(arm: number, random: Random, clock: Clock): Task | null {
    let left = [...(this.members[arm] ?? [])];
    while (left.length > 0) {
      const chosen = left.length === 1 ? left[0]! : byWeight(left, random, clock);
      const task = chosen.source.draw("train", chosen.value, random);
      if (task !== null) return task;
      left = left.filter((member) => member !== chosen);
    }
    return null;
  }
}

/** Every arm with its members, in the order of the config. */
function membersOf(sources: readonly SourceOf[], naming: Naming): Map<Arm, Member[]> {
  const members = new Map<Arm, Member[]>();
  for (const one of sources) {
    const { source } = one;
    const values: readonly (string | undefined)[] = source.values.length === 0 ? [undefined] : source.values;
    const named = values.map((value) => ({ value, arm: naming(source, value) }));
    const whole = new Set(named.map(({ arm }) => arm)).size === 1;
    for (const { arm, value } of whole ? named.slice(0, 1) : named)
      members.set(arm, [
        ...(members.get(arm) ?? []),
        { ...one, value: whole && values.length > 1 ? undefined : value },
      ]);
  }
  return members;
}

/** One of some things with a weight in the config, in proportion to it; all zero: uniformly. */
export function byWeight<Weighted extends { readonly config: { readonly weight: Scheduled } }>(
  from: readonly Weighted[],
  random: Random,
  clock: Clock,
): Weighted {
  const weights = from.map(({ config }) => valueAt(config.weight, clock));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let left = random.next() * (sum > 0 ? sum : from.length);
  const at = weights.findIndex((weight) => (left -= sum > 0 ? weight : 1) < 0);
  // Rounding can leave a sliver: it belongs to the last that can be drawn.
  return from[at === -1 ? weights.findLastIndex((weight) => weight > 0 || sum <= 0) : at]!;
}
