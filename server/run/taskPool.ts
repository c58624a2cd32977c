/** The tasks of a stage by arm: which arms there are, and a task of an arm. */
import { UserError } from "../../shared/errors.ts";
import type { Arm, Arms, Clock, Random, Task, TaskSource } from "../seams.ts";

export interface WeightedSource {
  readonly source: TaskSource;
  readonly weight: (clock: Clock) => number;
}

/** One thing an arm can be drawn from: a source, or one value of it. */
interface Origin extends WeightedSource {
  readonly value: string | undefined;
}
export interface DrawnTask {
  readonly task: Task;
  readonly arm: Arm;
}

const empty = (what: string): UserError =>
  new UserError(`${what} has no task left to draw`, { code: "tasks-empty", action: "Raise `epochs`, add data, widen the task's parameters, or shorten the run." });

/** Draws one of the weighted things; all weights zero: any. */
function weightedPick<Item>(items: readonly Item[], weights: readonly number[], random: Random): Item {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let left = random.next() * (total > 0 ? total : items.length);
  const at = items.findIndex((_, i) => (left -= total > 0 ? weights[i]! : 1) < 0);
  return items[at < 0 ? items.length - 1 : at]!;
}

export class TaskPool {
  private readonly origins = new Map<Arm, Origin[]>();

  constructor(
    private readonly sources: readonly WeightedSource[],
    private readonly armOf: Arms,
    random: Random,
  ) {
    for (const weighted of sources) for (const value of weighted.source.values.length === 0 ? [undefined] : weighted.source.values) this.add({ ...weighted, value }, random);
  }

  /** The arm of an origin is that of one of its tasks; the probe leaves the source as it was. */
  private add(origin: Origin, random: Random): void {
    const before = origin.source.save();
    const task = origin.source.draw("train", origin.value, random.fork(origin.source.name, origin.value ?? "")) ?? origin.source.draw("evaluate", origin.value, random);
    origin.source.load(before);
    if (task === null) return;
    const arm = this.armOf(task, origin.source);
    this.origins.set(arm, [...(this.origins.get(arm) ?? []), origin]);
  }

  /** Every arm of the config, in the order of the tasks. */
  get arms(): readonly Arm[] {
    return [...this.origins.keys()];
  }

  /** Prior of each arm by the weights of the tasks it is made of; a source's weight is shared by its values. */
  prior(clock: Clock): Map<Arm, number> {
    return new Map([...this.origins].map(([arm, origins]) => [arm, origins.reduce((sum, origin) => sum + this.share(origin, clock), 0)]));
  }
  private share({ source, weight }: Origin, clock: Clock): number {
    return weight(clock) / Math.max(1, source.values.length);
  }

  /** A task of an arm. @throws UserError when all that the arm is made of is used up */
  draw(arm: Arm, random: Random, clock: Clock): DrawnTask {
    let origins = this.origins.get(arm) ?? [];
    while (origins.length > 0) {
      const chosen = weightedPick(origins, origins.map((origin) => this.share(origin, clock)), random);
      const task = chosen.source.draw("train", chosen.value, random);
      if (task !== null) return { task, arm };
      origins = origins.filter((origin) => origin !== chosen);
    }
    throw empty(`arm ${arm}`);
  }

  /** A task of any source, by weight: what supervised stages learn from. */
  drawAny(random: Random, clock: Clock): DrawnTask {
    let sources = this.sources;
    while (sources.length > 0) {
      const chosen = weightedPick(sources, sources.map(({ weight }) => weight(clock)), random);
      const values = chosen.source.values;
      const task = chosen.source.draw("train", values.length === 0 ? undefined : values[random.integer(values.length)], random);
      if (task !== null) return { task, arm: this.armOf(task, chosen.source) };
      sources = sources.filter((source) => source !== chosen);
    }
    throw empty("no task source of this stage");
  }

  /** Up to `n` distinct held-out tasks, as evenly over the sources and their values as they have them. */
  heldOut(n: number, random: Random): DrawnTask[] {
    const found = new Map<string, DrawnTask>();
    let open = [...this.origins].flatMap(([arm, origins]) => origins.map((origin) => ({ arm, origin, misses: 0 })));
    while (found.size < n && open.length > 0) {
      for (const place of open) {
        if (found.size >= n) break;
        const task = place.origin.source.draw("evaluate", place.origin.value, random);
        const isNew = task !== null && !found.has(task.id);
        if (isNew) found.set(task.id, { task, arm: place.arm });
        place.misses = isNew ? 0 : task === null ? Infinity : place.misses + 1;
      }
      // A thousand repeats in a row: what is left of this place is too rare to wait for.
      open = open.filter((place) => place.misses < 1000);
    }
    return [...found.values()];
  }
}
