import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import type { Task } from "../../../core/task.ts";
import { wholeKnob } from "../generated.ts";
import { leveled } from "./levels.ts";
import { actionText, bonusParam, played, worldParams, type Turned, type World } from "./world.ts";

const params = z.object({
  numbers: param(
    z.array(z.number().int().min(2).max(1_000_000)).min(1).default([8, 32, 128]),
    "How many numbers the secret may be: the difficulties, one arm each.",
  ),
  first: param(z.number().int().min(0).default(1), "The least of them."),
  bonus: bonusParam("a guess that the replies before it allow"),
  ...worldParams,
  prompt: param(
    template("low", "high", "turns").default("Guess my number from {low} to {high}."),
    "Template of the prompt: `{low}`, `{high}`, `{turns}` (guesses that are allowed).",
  ),
  higher: param(z.string().min(1).default("higher"), "What is said after a guess that is too low."),
  lower: param(z.string().min(1).default("lower"), "What is said after a guess that is too high."),
  unclear: param(
    template("low", "high").default("Write a number from {low} to {high}."),
    "What is said after a turn that is no guess: `{low}`, `{high}`.",
  ),
});
type Params = z.output<typeof params>;

const place = z.object({ low: z.number(), high: z.number(), secret: z.number() });
type Place = z.output<typeof place>;
/** What the replies so far leave of the range. */
const state = z.object({ low: z.number(), high: z.number(), guesses: z.number(), allowed: z.number() });
type State = z.output<typeof state>;

/** Guesses that halving needs at most: ⌈log₂(n + 1)⌉. */
const halvings = ({ low, high }: Place): number => Math.ceil(Math.log2(high - low + 2));

function turn(chosen: Params, { low, high, secret }: Place, now: State, text: string): Turned<State> {
  const said = actionText(text);
  const guess = /^-?\d+$/.test(said) ? Number(said) : Number.NaN;
  if (!(guess >= low && guess <= high)) {
    const range = { low: String(low), high: String(high) };
    return { state: now, text: fill(chosen.unclear, range), invalid: true, subgoals: now.allowed };
  }
  const fits = guess >= now.low && guess <= now.high;
  const next = {
    low: guess < secret ? Math.max(now.low, guess + 1) : now.low,
    high: guess > secret ? Math.min(now.high, guess - 1) : now.high,
    guesses: now.guesses + 1,
    allowed: now.allowed + Number(fits),
  };
  return {
    state: next,
    text: guess < secret ? chosen.higher : chosen.lower,
    won: guess === secret,
    subgoals: next.allowed,
    components: { guesses: next.guesses, left: next.high - next.low + 1 },
  };
}

const world = (chosen: Params): World<Place, State> => ({
  place,
  state,
  begin: ({ low, high }) => ({ low, high, guesses: 0, allowed: 0 }),
  turn: (where, now, text) => turn(chosen, where, now, text),
  limit: halvings,
});

function taskOf(name: string, chosen: Params, data: Place): Task {
  const { low, high, secret } = data;
  const turns = chosen.limit ?? halvings(data);
  const shown = { low: String(low), high: String(high), turns: String(turns) };
  return {
    id: `guess_number:(${low}..${high}):${secret}`,
    source: name,
    env: "guess_number",
    prompt: fill(chosen.prompt, shown),
    data,
    answer: String(secret),
  };
}

export const guessNumber = taskSource({
  name: "guess_number",
  summary:
    "Find a secret number: a scripted partner says whether it is higher or lower. Played over turns, with `rollout.shape: environment`.",
  formula: "r = 1 − pace·t/limit at the secret; λ for each guess within what the replies leave",
  sources: ["LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "guess_number";
    return {
      ...leveled({
        env: "guess_number",
        name,
        place,
        levels: chosen.numbers,
        box: [wholeKnob("numbers", [2], Math.max(1000, ...chosen.numbers))],
        range: [2, 1_000_000],
        make: (count, random) => {
          const { first } = chosen;
          const secret = first + random.integer(count);
          return taskOf(name, chosen, { low: first, high: first + count - 1, secret });
        },
        levelOf: ({ low, high }) => high - low + 1,
      }),
      play: played(world(chosen), chosen),
    };
  },
});
