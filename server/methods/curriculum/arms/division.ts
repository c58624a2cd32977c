/** Arms that are sets of tasks: a source's values, whole sources, or everything. */
import { valueAt, type Scheduled } from "../../../core/schedule.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import type { TaskSource } from "../../../core/slots/tasks.ts";
import type { Arm, Clock } from "../../../core/basics.ts";
import { NamedArms } from "../armSet.ts";
import type { Arms, Division, SourceOf } from "../../../core/slots/curriculum.ts";

/** A source of an arm's tasks. */
interface Member extends SourceOf {
  /** undefined: any value of the source. */
  readonly value: string | undefined;
}

/** The arm of a source's value; undefined: the source does not divide its tasks, or not this one. */
export type Naming = (source: TaskSource, value: string | undefined) => Arm;

/** One arm per name, which draws from all values of that name. A source whose values share one name is drawn as a whole. */
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

  /** Within an arm, sources are drawn by weight; an exhausted one is skipped. */
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

/** Draws one in proportion to its weight in the config; all zero: uniformly. */
export function byWeight<Weighted extends { readonly config: { readonly weight: Scheduled } }>(
  from: readonly Weighted[],
  random: Random,
  clock: Clock,
): Weighted {
  const weights = from.map(({ config }) => valueAt(config.weight, clock));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let left = random.next() * (sum > 0 ? sum : from.length);
  const at = weights.findIndex((weight) => (left -= sum > 0 ? weight : 1) < 0);
  // A remainder of rounding belongs to the last with a weight.
  return from[at === -1 ? weights.findLastIndex((weight) => weight > 0 || sum <= 0) : at]!;
}
