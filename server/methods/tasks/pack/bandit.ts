import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import { randomStream, type Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import { wholeKnob } from "../generated.ts";
import { leveled } from "../worlds/levels.ts";
import { actionText, played, worldParams, type Turned, type World } from "../worlds/world.ts";

const letters = "ABCDEFGHIJ";

const { limit: _limit, pace: _pace, ...shared } = worldParams;
const params = z.object({
  arms: param(
    z.array(z.number().int().min(2).max(letters.length)).min(1).default([2, 5]),
    "How many actions a bandit has: the difficulties, one arm of the curriculum each.",
  ),
  pulls: param(
    z.number().int().min(0).max(500).default(10),
    "Pulls of the context, by a random policy of each task's own (DPT's data).",
  ),
  turns: param(
    z.number().int().min(1).max(1000).default(10),
    "Pulls of an episode, where it is played (`rollout.shape: environment`).",
  ),
  ...shared,
  prompt: param(
    template("actions", "history").default("{history}\nBest of {actions}:"),
    "Template of the prompt: `{actions}`, `{history}` (`A1 B0 …`: each pull with its reward).",
  ),
});
type Params = z.output<typeof params>;

const place = z.object({ means: z.array(z.number()), history: z.array(z.string()) });
type Place = z.output<typeof place>;
const state = z.object({ pulled: z.number(), regret: z.number(), seed: z.number() });
type State = z.output<typeof state>;

const bestOf = ({ means }: Place): number => Math.max(...means);

function turn(chosen: Params, where: Place, now: State, text: string): Turned<State> {
  const arm = letters.indexOf(actionText(text).toUpperCase());
  const known = actionText(text).length === 1 && arm >= 0 && arm < where.means.length;
  const mean = known ? where.means[arm]! : undefined;
  const reward = mean === undefined ? 0 : Number(randomStream(now.seed, "pull", now.pulled).next() < mean);
  // A turn that pulls nothing costs what the best action would have given.
  const next = { ...now, pulled: now.pulled + 1, regret: now.regret + bestOf(where) - (mean ?? 0) };
  return {
    state: next,
    text: known ? String(reward) : "?",
    reward,
    done: next.pulled >= chosen.turns,
    invalid: !known,
    components: { regret: next.regret },
  };
}

const world = (chosen: Params): World<Place, State> => ({
  place,
  state,
  begin: (_, random) => ({ pulled: 0, regret: 0, seed: random.integer(2 ** 31) }),
  actions: ({ means }) => [...letters.slice(0, means.length)],
  turn: (where, now, text) => turn(chosen, where, now, text),
  limit: () => chosen.turns,
});

/** Weights of a random policy: normalised draws of Γ(1), so that all policies are equally likely (Dirichlet(1)). */
function policyOf(arms: number, random: Random): readonly number[] {
  const weights = Array.from({ length: arms }, () => -Math.log(1 - random.next()));
  const sum = weights.reduce((total, one) => total + one, 0);
  return weights.map((weight) => weight / sum);
}

function drawnFrom(shares: readonly number[], random: Random): number {
  let left = random.next();
  const found = shares.findIndex((share) => (left -= share) < 0);
  return found < 0 ? shares.length - 1 : found;
}

function make(name: string, chosen: Params, arms: number, random: Random): Task {
  const means = Array.from({ length: arms }, () => Math.round(random.next() * 1000) / 1000);
  const shares = policyOf(arms, random);
  const history = Array.from({ length: chosen.pulls }, () => {
    const arm = drawnFrom(shares, random);
    return `${letters[arm]!}${Number(random.next() < means[arm]!)}`;
  });
  const best = letters[means.indexOf(Math.max(...means))]!;
  const shown = { actions: letters.slice(0, arms), history: history.join(" ") };
  return {
    id: `bandit:${means.join(",")}:${history.join("")}`,
    source: name,
    env: "bandit",
    prompt: fill(chosen.prompt, shown),
    answer: best,
    data: { means, history },
    solution: best,
  };
}

export const bandit = taskSource({
  name: "bandit",
  summary:
    "A Bernoulli bandit in the context: what was pulled and what it gave, and the action that is best. For supervised pretraining on the best actions, for reinforcement, or played over turns.",
  formula: "a* = argmax_a μ_a; played: r_t ~ Bernoulli(μ_a), regret = Σ_t μ* − μ_a",
  sources: ["Supervised Pretraining Can Learn In-Context Reinforcement Learning"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "bandit";
    return {
      ...leveled({
        env: "bandit",
        name,
        place,
        levels: chosen.arms,
        box: [wholeKnob("arms", [2], letters.length), wholeKnob("pulls", [0], 500)],
        make: (arms, random, { pulls = chosen.pulls }) => make(name, { ...chosen, pulls }, arms, random),
        levelOf: ({ means }) => means.length,
      }),
      play: { ...played(world(chosen), { invalid: chosen.invalid, pace: 0 }), optional: true },
    };
  },
});
