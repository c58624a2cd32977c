import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import { shuffled } from "../countdownExpressions.ts";
import { wholeKnob } from "../generated.ts";
import { leveled } from "./levels.ts";
import { facts, isTrue, things } from "./things.ts";
import { actionText, bonusParam, played, worldParams, type Turned, type World } from "./world.ts";

const most = things.length;

const params = z.object({
  things: param(
    z.array(z.number().int().min(2).max(most)).min(1).default([4, 8, 16]),
    `Things that the secret may be, up to ${most}: the difficulties, one arm each.`,
  ),
  bonus: bonusParam("a question whose answer rules something out"),
  ...worldParams,
  limit: param(z.number().int().min(1).default(20), "Questions and guesses that an episode may have."),
  prompt: param(
    template("things", "facts", "turns").default(
      "I think of one of these: {things}. Find out which: ask `is it F?` for a fact F, or say its name.\nFacts: {facts}",
    ),
    "Template of the prompt: `{things}` and `{facts}` (separated by commas), `{turns}`.",
  ),
  unclear: param(
    z.string().min(1).default("I only know the facts and the things of the list."),
    "What is said after a turn that is neither.",
  ),
});
type Params = z.output<typeof params>;

const place = z.object({ things: z.array(z.string()), secret: z.string() });
type Place = z.output<typeof place>;
/** What the answers so far leave. */
const state = z.object({ left: z.array(z.string()), established: z.number(), asked: z.number() });
type State = z.output<typeof state>;

/** What is asked: a fact or a thing of the list; undefined: neither. */
function askedIn(text: string, known: readonly string[]): string | undefined {
  const plain = actionText(text)
    .replace(/^(?:is|are|can|does) (?:it|this|the thing)\s+/, "")
    .replace(/^it(?:'s| is)\s+/, "");
  const bare = (word: string): string => word.replace(/^(?:an?|the)\s+/, "");
  return [...facts, ...known].find((one) => bare(one) === bare(plain));
}

function turn(chosen: Params, where: Place, now: State, text: string): Turned<State> {
  const asked = askedIn(text, where.things);
  if (asked === undefined)
    return { state: now, text: chosen.unclear, invalid: true, subgoals: now.established };
  const isThing = where.things.includes(asked);
  const holds = isThing ? (thing: string) => thing === asked : (thing: string) => isTrue(asked, thing);
  const answer = holds(where.secret);
  const left = now.left.filter((thing) => holds(thing) === answer);
  const next = {
    left,
    established: now.established + Number(!isThing && left.length < now.left.length),
    asked: now.asked + 1,
  };
  return {
    state: next,
    text: answer ? "yes" : "no",
    won: isThing && answer,
    subgoals: next.established,
    components: { questions: next.asked, left: left.length },
  };
}

const world = (chosen: Params): World<Place, State> => ({
  place,
  state,
  begin: (where) => ({ left: where.things, established: 0, asked: 0 }),
  actions: (where) => [...facts.map((fact) => `is it ${fact}?`), ...where.things],
  turn: (where, now, text) => turn(chosen, where, now, text),
  limit: () => chosen.limit,
});

function make(name: string, chosen: Params, count: number, random: Random): Task {
  const known = shuffled(things, random).slice(0, count);
  const secret = known[random.integer(known.length)]!;
  const shown = { things: known.join(", "), facts: facts.join(", "), turns: String(chosen.limit) };
  return {
    id: `twenty_questions:${[...known].sort().join(",")}:${secret}`,
    source: name,
    env: "twenty_questions",
    prompt: fill(chosen.prompt, shown),
    data: { things: known, secret },
    answer: secret,
  };
}

export const twentyQuestions = taskSource({
  name: "twenty_questions",
  summary:
    "Find out which of some things a scripted partner thinks of, by asking for facts. Played over turns, with `rollout.shape: environment`.",
  formula: "r = 1 − pace·t/limit where the secret is named; λ for each answer that rules something out",
  sources: [
    "Dialogue Shaping: Empowering Agents through NPC Interaction",
    "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models",
  ],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "twenty_questions";
    return {
      ...leveled({
        env: "twenty_questions",
        name,
        place,
        levels: chosen.things,
        box: [wholeKnob("things", [2], most)],
        make: (count, random) => make(name, chosen, count, random),
        levelOf: (known) => known.things.length,
      }),
      play: played(world(chosen), chosen),
    };
  },
});
