import { z } from "zod";
import { finishes } from "../../../../shared/rollouts/fields.ts";
import { schedulable } from "../../../core/schedule.ts";
import { start, param } from "../../../core/declaration.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import type { Random } from "../../../lib/random.ts";
import type { EpisodeState } from "../../../core/slots/guidance.ts";
import { fromEarlier, keptFields, oneOf, wantedOutcomes } from "./earlier.ts";

const turnSchema = z.object({
  role: z.string(),
  text: z.string(),
  tokens: z.array(z.number()),
  finish: z.enum(finishes).optional(),
  reward: z.number().optional(),
  name: z.string().optional(),
  /** Where the environment stood after a reply. */
  state: z.custom<Json>((value) => value !== undefined).optional(),
});
const kept = z.object({
  ...keptFields,
  turns: z.array(turnSchema),
  tries: z.number(),
});
type Kept = z.output<typeof kept>;
type Said = EpisodeState["turns"][number];

/** Turns as JSON has them. */
const plain = ({ turns }: EpisodeState): Kept["turns"] =>
  turns.map(({ tokens, ...turn }) => ({ ...turn, tokens: [...tokens] }));

const live = ({ role, text, tokens, finish, reward, name, state }: Kept["turns"][number]): Said => ({
  role,
  text,
  tokens: Int32Array.from(tokens),
  ...(finish && { finish }),
  ...(reward !== undefined && { reward }),
  ...(name !== undefined && { name }),
  ...(state !== undefined && { state }),
});

/** Numbers of turns after which the policy would speak: up to each reply, where the environment can be put there. */
function boundaries({ turns }: Kept): number[] {
  const stateful = turns.some(({ state }) => state !== undefined);
  return turns.flatMap(({ role, state }, i) =>
    role === "assistant" || (stateful && state === undefined) ? [] : [i + 1],
  );
}

const names = {
  state: () => "",
  task: ({ task }: Kept) => task.id,
  arm: ({ arm }: Kept) => arm,
} as const;

/** One of the kept episodes: each as likely, or each task or arm as likely. */
function drawn(memory: readonly Kept[], over: keyof typeof names, random: Random): Kept {
  const name = names[over];
  const chosen = oneOf([...new Set(memory.map(name))], random);
  return oneOf(
    memory.filter((one) => name(one) === chosen),
    random,
  );
}

export const midEpisode = start({
  name: "mid_episode",
  summary:
    "Some groups start in the middle of an earlier episode of several attempts: after its first attempts and the replies to them, which are prefilled.",
  sources: ["Snapshot Reinforcement Learning: Leveraging Prior Trajectories for Efficiency"],
  params: z.object({
    share: param(
      schedulable(z.number().min(0).max(1)).default(0.5),
      "Probability that a drawn task is replaced by the state of an earlier episode.",
    ),
    of: param(
      wantedOutcomes.default("all"),
      "Episodes that are kept: all, those that ended wrong or right, or those of groups with both.",
    ),
    over: param(
      z.enum(["state", "task", "arm"]).default("arm"),
      "What is drawn with equal odds: kept episodes, the tasks they are of, or their arms, so that starts are spread.",
    ),
    left: param(
      z.number().int().min(1).optional(),
      "Most attempts that the episode may still have; default: as many as the kept one had left.",
    ),
    capacity: param(z.number().int().min(1).default(256), "Episodes that are kept, the latest."),
  }),
  create: ({ share, of, over, left, capacity }) => {
    const stateOf = (from: Kept, random: Random): EpisodeState => {
      const turns = from.turns.slice(0, oneOf(boundaries(from), random)).map(live);
      const made = turns.filter(({ role }) => role === "assistant").length;
      return { turns, tries: left === undefined ? from.tries : Math.min(from.tries, made + left) };
    };
    return fromEarlier({
      name: "mid_episode",
      share,
      of,
      capacity,
      schema: kept,
      keep: ({ task, arm }, { episode }) =>
        episode === undefined ? undefined : { task, arm, turns: plain(episode), tries: episode.tries },
      begin: (memory, random) => {
        const from = drawn(memory, over, random);
        const state = stateOf(from, random);
        return { task: from.task, arm: from.arm, state, help: { use: "mid_episode", by: "policy" } };
      },
    });
  },
});
