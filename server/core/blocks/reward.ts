/** The keys of `reward`: what a response is paid. */
import { z } from "zod";
import { refers } from "../references.ts";
import { choice, made, map, method, namedMap, scheduled, value } from "./kinds.ts";

/** What a reward term scores of an episode of several attempts. */
export const termAttempts = z.enum(["last", "each", "best", "sum", "episode"]);
export type TermAttempts = z.output<typeof termAttempts>;

const term = method("reward", "term", {
  weight: scheduled(z.number(), "Factor on the term before the combiner. 0: recorded but not rewarded.", {
    default: 1,
    live: true,
  }),
  tasks: value(z.array(refers({ to: "task" })), "Names of the tasks the term applies to; default: all."),
  attempts: value(
    termAttempts,
    "What it scores of an episode of several attempts (`rollout.shape`): the last; each, paid at its end; the best; all, summed; or the whole episode as one text. Default: `reward.attempts`.",
  ),
});

const written = map(
  {
    terms: namedMap(
      "reward term",
      { ...term, read: (at) => ({ name: at.name, ...term.read(at) }) },
      "Sources of reward by name; they stay separate until the advantage.",
      { default: {} },
    ),
    attempts: value(
      termAttempts,
      "What terms score of an episode of several attempts (`rollout.shape`), where they do not say themselves.",
      { default: "last" },
    ),
    combine: choice("combine", "How terms become one reward.", { default: "sum" }),
    success: map(
      {
        terms: value(
          z.array(refers({ to: "term" })),
          "Terms that decide; the first that applies to the task counts. Default: all, in order.",
        ),
        at_least: value(z.number(), "A rollout succeeds when the deciding term is at least this.", {
          default: 1,
        }),
      },
      "What counts as solved: pass@k, success band and group fractions use it.",
    ),
    timeout: value(z.number().positive(), "Seconds a user reward may take for one rollout.", { default: 5 }),
  },
  "What a response is paid.",
);

export const reward = made(written, ({ terms, attempts, ...rest }) => ({
  terms: terms.map((one) => ({ ...one, attempts: one.attempts ?? attempts })),
  ...rest,
}));
