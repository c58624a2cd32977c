import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import { wholeKnob } from "../generated.ts";
import { leveled } from "./levels.ts";
import {
  areEquivalent,
  changed,
  parseProgram,
  randomProgram,
  rewritten,
  written,
  type Program,
} from "./polynomials.ts";
import { actionText, bonusParam, played, worldParams, type Turned, type World } from "./world.ts";

const params = z.object({
  rewrites: param(
    z.array(z.number().int().min(1).max(8)).min(1).default([1, 2, 3]),
    "Rewrites that the second program was made by: the difficulties, one arm each.",
  ),
  operators: param(z.number().int().min(2).max(8).default(3), "Operators of the first program."),
  equivalent: param(z.number().min(0).max(1).default(0.5), "Share of tasks whose programs are equivalent."),
  proof: param(
    z.number().min(0).max(1).default(0.5),
    "Share of the reward of a right `yes` that only a derivation to the second program earns.",
  ),
  bonus: bonusParam("each next program of the way between equivalent programs"),
  ...worldParams,
  limit: param(z.number().int().min(1).default(12), "Turns that an episode may have."),
  prompt: param(
    template("left", "right", "view").default(
      "Is {left} the same as {right}?\nSay `expand N`, `backtrack`, `answer yes` or `answer no`.\n{view}",
    ),
    "Template of the prompt: `{left}`, `{right}`, `{view}` (the rewrites that can be expanded first).",
  ),
});
type Params = z.output<typeof params>;

const place = z.object({
  left: z.string(),
  right: z.string(),
  equivalent: z.boolean(),
  /** The programs after the first that rewrites have led to; the second program is the last of them, or that changed. */
  way: z.array(z.string()),
});
type Place = z.output<typeof place>;
const state = z.object({
  /** Programs from the first to where the derivation is. */
  path: z.array(z.string()),
  expanded: z.number(),
  /** Programs of the way that have been reached. */
  reached: z.number(),
});
type State = z.output<typeof state>;

function parsed(text: string): Program {
  const program = parseProgram(text);
  if (program === null) throw new Error(`\`${text}\` is no program`);
  return program;
}

const nextTo = (text: string): readonly string[] =>
  rewritten(parsed(text)).map((program) => written(program));

function seen(path: readonly string[]): string {
  const options = nextTo(path.at(-1)!).map((next, at) => `${at + 1}. ${next}`);
  return [`Now: ${path.at(-1)!}`, ...options].join("\n");
}

function answered(chosen: Params, where: Place, now: State, yes: boolean): Turned<State> {
  const right = yes === where.equivalent;
  const derived = now.path.at(-1) === where.right;
  const reward = !right ? 0 : yes && !derived ? 1 - chosen.proof : 1;
  return {
    state: now,
    text: "",
    done: true,
    ...(reward === 1 ? { won: true } : { reward }),
    components: { right: Number(right), derived: Number(derived), expanded: now.expanded },
  };
}

function turn(chosen: Params, where: Place, now: State, text: string): Turned<State> {
  const action = actionText(text);
  if (action === "answer yes" || action === "answer no")
    return answered(chosen, where, now, action === "answer yes");
  const next = action === "backtrack" ? backtracked(now) : expanded(where, now, action);
  const after = next ?? now;
  return {
    state: after,
    text: seen(after.path),
    invalid: next === undefined,
    subgoals: after.reached,
    components: { expanded: after.expanded },
  };
}

const backtracked = (now: State): State | undefined =>
  now.path.length > 1 ? { ...now, path: now.path.slice(0, -1) } : undefined;

function expanded(where: Place, now: State, action: string): State | undefined {
  const chosen = Number(/^expand (\d+)$/.exec(action)?.[1] ?? 0);
  const program = nextTo(now.path.at(-1)!)[chosen - 1];
  if (program === undefined) return undefined;
  const along = where.equivalent ? where.way.indexOf(program) + 1 : 0;
  return {
    path: [...now.path, program],
    expanded: now.expanded + 1,
    reached: Math.max(now.reached, along),
  };
}

const world = (chosen: Params): World<Place, State> => ({
  place,
  state,
  begin: ({ left }) => ({ path: [left], expanded: 0, reached: 0 }),
  actions: (_, { path }) => [
    ...nextTo(path.at(-1)!).map((__, at) => `expand ${at + 1}`),
    ...(path.length > 1 ? ["backtrack"] : []),
    "answer yes",
    "answer no",
  ],
  turn: (where, now, text) => turn(chosen, where, now, text),
  limit: () => chosen.limit,
});

/** Programs that so many rewrites make one after the other, none of them twice; null: they have led nowhere new. */
function wayFrom(first: Program, rewrites: number, random: Random): readonly Program[] | null {
  const way = [first];
  const passed = new Set([written(first)]);
  for (let step = 0; step < rewrites; step++) {
    // What an earlier program leads to as well would make the way shorter than it looks.
    const fresh = rewritten(way.at(-1)!).filter((program) => !passed.has(written(program)));
    const next = fresh.length === 0 ? undefined : fresh[random.integer(fresh.length)];
    if (next === undefined) return null;
    for (const program of rewritten(way.at(-1)!)) passed.add(written(program));
    way.push(next);
  }
  return way.slice(1);
}

function make(name: string, chosen: Params, rewrites: number, random: Random): Task | null {
  const first = randomProgram(chosen.operators, random);
  const way = wayFrom(first, rewrites, random);
  const last = way?.at(-1);
  if (way === null || last === undefined) return null;
  const equivalent = random.next() < chosen.equivalent;
  const other = equivalent ? last : changed(last, random);
  if (!equivalent && areEquivalent(first, other)) return null;
  const [left, right] = [written(first), written(other)];
  return {
    id: `program_equivalence:${left}?${right}`,
    source: name,
    env: "program_equivalence",
    prompt: fill(chosen.prompt, { left, right, view: seen([left]) }),
    data: { left, right, equivalent, way: way.map((program) => written(program)) },
    answer: equivalent ? "yes" : "no",
    ...(!(equivalent && chosen.proof > 0) && { solution: equivalent ? "answer yes" : "answer no" }),
  };
}

export const programEquivalence = taskSource({
  name: "program_equivalence",
  summary:
    "Say whether two small programs compute the same, by expanding rewrites and going back. Played over turns, with `rollout.shape: environment`.",
  formula:
    "r = 1 for the right answer; a `yes` without a derivation earns 1 − proof; λ for each rewrite nearer",
  sources: ["Integrating Large Language Models and Reinforcement Learning for Non-Linear Reasoning"],
  status: "approximate",
  params,
  create: (chosen, context) => {
    const name = context.name ?? "program_equivalence";
    return {
      ...leveled({
        env: "program_equivalence",
        name,
        place,
        levels: chosen.rewrites,
        box: [wholeKnob("rewrites", [1], 8), wholeKnob("operators", [2], 8)],
        make: (rewrites, random, { operators = chosen.operators }) =>
          make(name, { ...chosen, operators }, rewrites, random),
        levelOf: ({ way }) => way.length,
      }),
      play: played(world(chosen), chosen),
    };
  },
});
