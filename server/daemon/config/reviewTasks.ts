/** Which of a run's arms are worth a review, and what a stage writes to draw from these alone. Pure. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type { ArmTurnover } from "../../../shared/run/turnover.ts";

/**
 * Arms that forgot at least as large a share of their tasks as all together did: most of what is forgotten is of these.
 * Empty: none forgot anything.
 */
export function armsToReview(arms: readonly ArmTurnover[]): readonly ArmTurnover[] {
  const sum = (of: (arm: ArmTurnover) => number): number => arms.reduce((total, arm) => total + of(arm), 0);
  const all = sum(({ forgotten }) => forgotten) / sum(({ tasks }) => tasks);
  return arms.filter(({ forgotten, tasks }) => forgotten > 0 && forgotten / tasks >= all);
}

export interface ReviewTasks {
  /** Over the config's `tasks`, by their names; null: the stage does not draw it. */
  readonly tasks: JsonObject;
  /** The arms that are drawn then, of those that were asked. */
  readonly arms: readonly ArmTurnover[];
}

/**
 * @param tasks as the config was resolved
 * @param chosen arms, each `<task>` or `<task>/<value>`
 * @param all arms that were asked
 * @returns undefined where that would draw what is drawn anyway, or an arm is of no task
 */
export function reviewTasks(
  tasks: readonly JsonObject[],
  chosen: readonly ArmTurnover[],
  all: readonly ArmTurnover[],
): ReviewTasks | undefined {
  const names = tasks.map(({ name }) => String(name));
  if (chosen.some(({ arm }) => taskOf(arm, names) === undefined)) return undefined;
  const written: Record<string, Json> = {};
  const drawn = new Set<string>();
  tasks.forEach((task, at) => {
    const name = names[at]!;
    const own = chosen.flatMap(({ arm }) => (taskOf(arm, names) === name ? [arm] : []));
    const narrowed = own.length === 0 ? null : narrow(task, name, own);
    if (narrowed !== undefined) written[name] = narrowed;
    const whole = all.flatMap(({ arm }) => (taskOf(arm, names) === name ? [arm] : []));
    for (const arm of narrowed === undefined ? whole : own) drawn.add(arm);
  });
  if (Object.keys(written).length === 0) return undefined;
  return { tasks: written, arms: all.filter(({ arm }) => drawn.has(arm)) };
}

/** The longest name counts: `a/b` may be a task of its own. */
const taskOf = (arm: string, names: readonly string[]): string | undefined =>
  names
    .filter((name) => arm === name || arm.startsWith(`${name}/`))
    .toSorted((one, other) => other.length - one.length)[0];

/** The parameter that lists the difficulties, with those of the arms; undefined: it stays as it is. */
function narrow(task: JsonObject, name: string, arms: readonly string[]): JsonObject | undefined {
  const values = new Set(arms.map((arm) => arm.slice(name.length + 1)));
  for (const [key, listed] of Object.entries(task)) {
    if (!Array.isArray(listed)) continue;
    const kept = listed.filter((one) => values.has(String(one)));
    const found = new Set(kept.map(String)).size === values.size;
    if (found) return kept.length < listed.length ? { [key]: kept } : undefined;
  }
  return undefined;
}
