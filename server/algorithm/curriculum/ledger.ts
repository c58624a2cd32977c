/** What became of the tasks of each stage: the latest outcome of each, so that later stages can take hard ones over. */
import { z } from "zod";
import type { CarryOver, StageConfig } from "../../core/config/stageConfig.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import type { Saved, Stateful } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";

const entrySchema = z.object({
  task: z.custom<Task>((value) => typeof value === "object" && value !== null),
  /** Of its latest group: mean reward, and share of rollouts that succeeded. */
  reward: z.number(),
  success: z.number(),
});
type LedgerEntry = Readonly<z.output<typeof entrySchema>>;
const stateSchema = z.record(z.string(), z.array(entrySchema));

/** How many tasks of each stage are to be remembered: none where no later stage carries them over. */
export function capacities(stages: readonly StageConfig[]): number[] {
  return stages.map((_, index) =>
    Math.max(
      0,
      ...stages.map(({ on_enter }, later) => {
        const { carryOver } = on_enter;
        if (carryOver === undefined) return 0;
        return sourcesOf(stages, later, carryOver).includes(index) ? carryOver.capacity : 0;
      }),
    ),
  );
}

/** Places of the stages whose tasks a stage takes over; those without tasks of their own hold none. */
export function sourcesOf(stages: readonly StageConfig[], index: number, { from }: CarryOver): number[] {
  const before = stages.map((stage, place) => ({ stage, place })).slice(0, index);
  const learned = before.filter(({ stage }) => stage.kind === "rl" || stage.kind === "preference");
  return (from === "all" ? learned : learned.slice(-1)).map(({ place }) => place);
}

export class Ledger implements Stateful {
  /** By stage and task id, the latest last. */
  private readonly stages = new Map<number, Map<string, LedgerEntry>>();

  get empty(): boolean {
    return this.stages.size === 0;
  }

  observe(stage: number, groups: readonly Group[], capacity: number): void {
    if (capacity === 0) return;
    const known = this.stages.get(stage) ?? new Map<string, LedgerEntry>();
    this.stages.set(stage, known);
    for (const { task, rewards, successes } of groups) {
      if (rewards.length === 0) continue;
      const reward = rewards.reduce((sum, one) => sum + one, 0) / rewards.length;
      known.delete(task.id);
      known.set(task.id, { task, reward, success: successes / rewards.length });
    }
    for (const id of known.keys()) {
      if (known.size <= capacity) break;
      known.delete(id);
    }
  }

  /** Tasks to take over with what each is drawn by; a task of two stages counts once, by its latest outcome. */
  candidates(
    stages: readonly number[],
    choice: CarryOver,
  ): { readonly task: Task; readonly weight: number }[] {
    const found = new Map<string, LedgerEntry>();
    for (const stage of stages) for (const [id, entry] of this.stages.get(stage) ?? []) found.set(id, entry);
    return [...found.values()]
      .filter(({ success }) => success < choice.below && (choice.unsolved === "keep" || success > 0))
      .map(({ task, reward, success }) => ({ task, weight: difficulty(reward, success, choice) }));
  }

  save(): Saved {
    const json = [...this.stages].map(([stage, entries]) => [String(stage), [...entries.values()]] as const);
    return { json: JSON.parse(JSON.stringify(Object.fromEntries(json))) };
  }
  load({ json }: Saved): void {
    this.stages.clear();
    for (const [stage, entries] of Object.entries(stateSchema.parse(json)))
      this.stages.set(Number(stage), new Map(entries.map((entry) => [entry.task.id, entry])));
  }
}

/** 1 / mean, the mean no smaller than the floor. */
export function difficulty(
  reward: number,
  success: number,
  { weight, floor }: Pick<CarryOver, "weight" | "floor">,
): number {
  if (weight === "uniform") return 1;
  return 1 / Math.max(floor, weight === "inverse_success" ? success : reward);
}

/** `n` of the candidates, each by its weight, none twice while there are others. */
export function drawCarried<Item extends { readonly weight: number }>(
  candidates: readonly Item[],
  n: number,
  random: Random,
): Item[] {
  const drawn: Item[] = [];
  let left = [...candidates];
  for (let i = 0; i < n && candidates.length > 0; i++) {
    if (left.length === 0) left = [...candidates];
    const sum = left.reduce((total, { weight }) => total + weight, 0);
    let at = random.fork(i).next() * sum;
    const found = left.findIndex(({ weight }) => (at -= weight) < 0);
    const [one] = left.splice(found < 0 ? left.length - 1 : found, 1);
    if (one !== undefined) drawn.push(one);
  }
  return drawn;
}
