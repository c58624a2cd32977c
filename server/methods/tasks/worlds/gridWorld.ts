import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import { shuffled } from "../countdownExpressions.ts";
import { wholeKnob } from "../generated.ts";
import { leveled } from "./levels.ts";
import * as rooms from "./gridRooms.ts";
import { subgoalsOf, subgoalText, missionText, reachedIn, seen } from "./gridTexts.ts";
import { actionsIn, bonusParam, played, worldParams, type Turned, type World } from "./world.ts";

const missions = ["go_to", "pick_up", "put_next"] as const;

const params = z.object({
  rooms: param(
    z.array(z.number().int().min(1).max(16)).min(1).default([1, 2, 4]),
    "How many rooms there are: the difficulties, one arm each.",
  ),
  size: param(z.number().int().min(2).max(8).default(4), "Cells along the inside of a room."),
  things: param(z.number().int().min(1).max(12).default(3), "How many things lie about."),
  missions: param(
    z
      .array(z.enum(missions))
      .min(1)
      .default([...missions]),
    "What may be asked: to go to a thing, to pick it up, or to put it down next to another.",
  ),
  kinds: param(
    z
      .array(z.enum(rooms.kinds))
      .min(1)
      .default([...rooms.kinds]),
    "Kinds of things.",
  ),
  colors: param(
    z
      .array(z.enum(rooms.colors))
      .min(1)
      .default([...rooms.colors]),
    "Colours of things.",
  ),
  moves: param(
    z.enum(["turn", "compass"]).default("turn"),
    "turn: `turn left`, `turn right`, `go forward`, as in BabyAI; compass: `north`, `east`, `south`, `west`. Both have `pick up` and `put down`.",
  ),
  view: param(
    z.enum(["sentences", "short"]).default("sentences"),
    "sentences: what is seen of the room, as BabyAI-Text says it; short: the things alone, in a few characters.",
  ),
  per_turn: param(
    z.number().int().min(1).default(1),
    "Actions that a turn may hold, one a line or separated by commas; more are not read.",
  ),
  bonus: bonusParam("each next sub-goal of the list that the task has"),
  ...worldParams,
  prompt: param(
    template("mission", "view", "actions", "subgoals").default("Goal: {mission}\nActions: {actions}\n{view}"),
    "Template of the prompt: `{mission}`, `{view}` (what is seen first), `{actions}`, `{subgoals}`.",
  ),
});
type Params = z.output<typeof params>;
type Place = rooms.GridPlace;
type State = rooms.GridState;

const begun = (place: Place): State => ({
  ...place.start,
  carried: -1,
  cells: place.things.map(({ cell }) => cell),
  reached: 0,
});

function turn(chosen: Params, place: Place, now: State, text: string): Turned<State> {
  const asked = actionsIn(text, chosen.per_turn);
  const subgoals = subgoalsOf(place);
  let state = now;
  let invalid = asked.length === 0;
  let won = false;
  for (const action of asked) {
    const next = rooms.acted(place, chosen.moves, state, action);
    if (next === undefined) {
      invalid = true;
      break;
    }
    state = { ...next, reached: reachedIn(place, subgoals, next) };
    won = rooms.isDone(place, place.mission, state);
    if (won) break;
  }
  // What ends the episode is the mission itself, not a sub-goal on the way.
  return { state, text: seen(place, state, chosen), won, invalid, subgoals: state.reached };
}

/** BabyAI's levels allow about as many turns as walking through every cell takes. */
const limitOf = ({ across, down, size }: Place, perTurn: number): number =>
  Math.ceil((across * down * size * size * 2) / perTurn);

const world = (chosen: Params): World<Place, State> => ({
  place: rooms.gridPlace,
  state: rooms.gridState,
  begin: begun,
  ...(chosen.per_turn === 1 && { actions: (place, state) => rooms.actionsAt(place, chosen.moves, state) }),
  turn: (place, state, text) => turn(chosen, place, state, text),
  limit: (place) => limitOf(place, chosen.per_turn),
});

function missionOf(chosen: Params, things: number, random: Random): rooms.Mission {
  const able = chosen.missions.filter((kind) => kind !== "put_next" || things > 1);
  const kind = able[random.integer(able.length)] ?? "go_to";
  const what = random.integer(things);
  if (kind !== "put_next") return { kind, what, to: null };
  return { kind, what, to: (what + 1 + random.integer(things - 1)) % things };
}

function make(name: string, chosen: Params, count: number, random: Random): Task | null {
  const made = rooms.roomsMade(count, chosen.size, random);
  const names = shuffled(
    chosen.colors.flatMap((color) => chosen.kinds.map((kind) => `${color} ${kind}`)),
    random,
  ).slice(0, chosen.things);
  const [start, ...cells] = shuffled(rooms.insides(made), random);
  if (start === undefined || cells.length < names.length) return null;
  const place: Place = {
    ...made,
    things: names.map((thing, at) => ({ name: thing, cell: cells[at]! })),
    start: { cell: start, facing: random.integer(4) },
    mission: missionOf(chosen, names.length, random),
  };
  const from = begun(place);
  const way = rooms.isDone(place, place.mission, from) ? undefined : rooms.wayTo(place, chosen.moves, from);
  if (way === undefined || way.length === 0) return null;
  return taskOf(name, chosen, place, way);
}

function taskOf(name: string, chosen: Params, place: Place, way: readonly string[]): Task {
  const things = place.things.map(({ name: thing, cell }) => `${thing}@${cell}`).join(",");
  const asked = [place.mission.kind, place.mission.what, place.mission.to ?? ""].join("-");
  const from = begun(place);
  const list = subgoalsOf(place).map((subgoal, at) => `${at + 1}. ${subgoalText(place, subgoal)}`);
  const shown = {
    mission: missionText(place),
    view: seen(place, from, chosen),
    actions: [...(chosen.moves === "compass" ? rooms.compass : ["turn left", "turn right", "go forward"])]
      .concat("pick up", "put down")
      .join(", "),
    subgoals: list.join("\n"),
  };
  return {
    id: `grid_world:${place.across}x${place.down}x${place.size}:${place.doorways.join(",")}:${things}:${place.start.cell}-${place.start.facing}:${asked}`,
    source: name,
    env: "grid_world",
    prompt: fill(chosen.prompt, shown),
    data: place,
    ...(way.length <= chosen.per_turn && { solution: way.join("\n") }),
  };
}

export const gridWorld = taskSource({
  name: "grid_world",
  aliases: ["babyai_text"],
  summary:
    "Go to, pick up and put down things in rooms on a grid, described in text. Played over turns, with `rollout.shape: environment`.",
  formula: "r = 1 − pace·t/limit where the mission is done; λ for each next sub-goal",
  sources: [
    "Grounding Large Language Models in Interactive Environments with Online Reinforcement Learning",
    "Words as Beacons: Guiding RL Agents with High-Level Language Prompts",
    "Assessing the Zero-Shot Capabilities of LLMs for Action Evaluation in RL",
  ],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "grid_world";
    return {
      ...leveled({
        env: "grid_world",
        name,
        place: rooms.gridPlace,
        levels: chosen.rooms,
        box: [wholeKnob("rooms", [1], 16), wholeKnob("size", [2], 8), wholeKnob("things", [1], 12)],
        make: (count, random, { size = chosen.size, things = chosen.things }) =>
          make(name, { ...chosen, size, things }, count, random),
        levelOf: ({ across, down }) => across * down,
      }),
      play: played(world(chosen), chosen),
    };
  },
});
