/** The keys of `reward`: what scores a response. */
import { z } from "zod";
import { refers } from "../references.ts";
import { choice, fraction, made, map, method, namedMap, scheduled, value } from "./kinds.ts";

/** What a reward term scores of an episode of several attempts. */
export const termAttempts = z.enum(["last", "each", "best", "sum", "episode"]);
export type TermAttempts = z.output<typeof termAttempts>;

const term = method("reward", "term", {
  weight: scheduled(
    z.number(),
    "Factor on the term before terms are combined. 0: the term is recorded, and rewards nothing.",
    { default: 1, live: true },
  ),
  gamma: scheduled(
    fraction,
    "γ of this term's rewards, where it differs from `advantage.gamma`: below response level, the discount of its returns to go.",
  ),
  tasks: value(z.array(refers({ to: "task" })), "Names of the tasks the term applies to; default: all."),
  attempts: value(
    termAttempts,
    "What the term scores in an episode of several attempts (`rollout.shape`): the last; each, with its reward at the attempt's end; the best; all, summed; or the whole episode as one text. Default: `reward.attempts`.",
  ),
});

const written = map(
  {
    terms: namedMap(
      "reward term",
      { ...term, read: (at) => ({ name: at.name, ...term.read(at) }) },
      "Reward terms by name. They stay separate until the advantage.",
      { default: {} },
    ),
    attempts: value(
      termAttempts,
      "What terms score in an episode of several attempts (`rollout.shape`), where they do not set it themselves.",
      { default: "last" },
    ),
    combine: choice("combine", "How terms become one reward.", { default: "sum" }),
    success: map(
      {
        terms: value(
          z.array(refers({ to: "term" })),
          "Terms that decide success. The first that applies to the task counts. Default: all, in order.",
        ),
        at_least: value(z.number(), "A rollout succeeds when the deciding term is at least this.", {
          default: 1,
        }),
      },
      "When a rollout counts as a success. pass@k, success bands and group fractions use it.",
    ),
    gold: value(
      z.array(refers({ to: "term" })),
      "Terms that you trust more than what trains, such as a better judge. They score the greedy answers to held-out tasks at each evaluation (`eval/reward/<term>`), and nothing else. Their weight is 0.",
      { default: [] },
    ),
    timeout: value(
      z.number().positive(),
      "Seconds that a reward function of your own may take for one rollout.",
      { default: 5 },
    ),
    max_failed_steps: value(
      z.number().int().min(0),
      "Steps in a row on whose every rollout the reward may fail before the run ends with the first cause. 0: any number.",
      { default: 3, live: true },
    ),
  },
  "How responses are scored.",
);

export const reward = made(written, ({ terms, attempts, ...rest }) => ({
  terms: terms.map((one) => ({ ...one, attempts: one.attempts ?? attempts })),
  ...rest,
}));
