/** What a preset chooses, and so what a starter leaves to it. */
import { isObject, objectOf } from "../../../shared/lib/json.ts";

const at = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), body);

interface How {
  /** Nothing goes with the config: it reads no file. */
  readonly isAlone: boolean;
  /** The preset's own stages begin with random weights, from which its tasks earn nothing. */
  readonly needsWarmUp: boolean;
}

export class Choices {
  /** @param bodies of the preset and, after it, of those that it extends */
  constructor(
    readonly preset: string,
    private readonly bodies: readonly unknown[],
    readonly how: How,
  ) {}

  has(path: string): boolean {
    return this.get(path) !== undefined;
  }

  /** Those of a block's keys that the preset leaves open, as the inside of a map. */
  open(block: string, entries: readonly (readonly [key: string, value: string])[]): string {
    return entries
      .filter(([key]) => !this.has(`${block}.${key}`))
      .map(([key, value]) => `${key}: ${value}`)
      .join(", ");
  }

  /** What the nearest of the bodies says. */
  get(path: string): unknown {
    return this.bodies.map((body) => at(body, path)).find((found) => found !== undefined);
  }

  /** Whether it brings tasks that are neither countdown's nor made of them. */
  get ownWorld(): boolean {
    const tasks = this.get("tasks");
    const list: readonly unknown[] = Array.isArray(tasks) ? tasks : Object.values(objectOf(tasks));
    return list.some((task) => at(task, "generate") === undefined && at(task, "env") !== "countdown");
  }

  /** Whether its reward goes without the starter's function. */
  get rewardsOwn(): boolean {
    return this.ownWorld || this.how.isAlone || this.has("reward.terms");
  }

  get configName(): string {
    return `${this.ownWorld || this.how.isAlone ? this.preset : "countdown"}.gradus.yaml`;
  }
}
