/** What start states from earlier rollouts of the run share: which rollouts are kept, and how often one is drawn. */
import { z } from "zod";
import { valueAt, type Scheduled } from "../../../core/schedule.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import type { StartState, Finished, Start } from "../../../core/slots/guidance.ts";

export type Earlier = Finished["rollouts"][number];

export const wantedOutcomes = z.enum(["all", "failures", "successes", "mixed"]);

/** What is kept of any rollout. */
export const keptFields = {
  task: z.custom<Task>((value) => typeof value === "object" && value !== null),
  arm: z.string(),
};

export const oneOf = <Item>(items: readonly Item[], random: Random): Item =>
  items[random.integer(items.length)]!;

interface Options<Kept> {
  /** Names the random stream. */
  readonly name: string;
  readonly share: Scheduled;
  /** mixed: of groups with both outcomes; the others by the rollout's own. */
  readonly of: z.output<typeof wantedOutcomes>;
  /** Rollouts kept, the latest. */
  readonly capacity: number;
  readonly schema: z.ZodType<Kept>;
  /** What is kept of a wanted rollout; undefined: no rollout can start from it. */
  keep(group: Finished, rollout: Earlier): Kept | undefined;
  begin(memory: readonly Kept[], random: Random): StartState;
}

/** With probability `share` a kept rollout replaces a drawn task. Rollouts that started this way are not kept. */
export function fromEarlier<Kept>(options: Options<Kept>): Start {
  const { name, share, of, capacity, schema } = options;
  let memory: Kept[] = [];
  const isWanted = (group: Finished, { success }: Earlier): boolean => {
    if (of === "mixed") return group.successes > 0 && group.successes < group.rollouts.length;
    return of === "all" || success === (of === "successes");
  };
  return {
    begin: (drawn, { clock, random }) => {
      const odds = valueAt(share, clock);
      return Promise.resolve(
        drawn.map(({ task, arm }, i): StartState => {
          const own = random.fork(name, i);
          return memory.length === 0 || own.next() >= odds ? { task, arm } : options.begin(memory, own);
        }),
      );
    },
    observe: (groups) => {
      const fresh = groups.flatMap((group) =>
        group.rollouts.flatMap((rollout) => {
          const kept =
            !rollout.prefilled && isWanted(group, rollout) ? options.keep(group, rollout) : undefined;
          return kept === undefined ? [] : [kept];
        }),
      );
      memory = [...memory, ...fresh].slice(-capacity);
    },
    save: () => ({ json: JSON.parse(JSON.stringify(memory)) }),
    load: ({ json }) => {
      memory = z.array(schema).parse(json);
    },
  };
}
