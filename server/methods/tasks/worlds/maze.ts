import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import { wholeKnob } from "../generated.ts";
import { leveled } from "./levels.ts";
import { actionsIn, bonusParam, played, worldParams, type Turned, type World } from "./world.ts";

const params = z.object({
  sides: param(
    z.array(z.number().int().min(2).max(20)).min(1).default([2, 3, 5]),
    "Cells along each side: the difficulties, one arm each.",
  ),
  per_turn: param(
    z.number().int().min(1).default(1),
    "Moves that a turn may hold, one a line or separated by commas; more are not read.",
  ),
  bonus: bonusParam("each next cell of the shortest way"),
  ...worldParams,
  prompt: param(
    template("map", "place", "side").default("{map}\n{place}"),
    "Template of the prompt: `{map}` (drawn; `A` is the start, `G` the goal), `{place}` (what is seen at the start), `{side}`.",
  ),
});
type Params = z.output<typeof params>;

const moves = { north: [0, -1], east: [1, 0], south: [0, 1], west: [-1, 0] } as const;
type Move = keyof typeof moves;
const names = ["north", "east", "south", "west"] as const satisfies readonly Move[];

const place = z.object({
  side: z.number(),
  /** Pairs of cells without a wall between them, the lower first: `cell * 2` to the east, `cell * 2 + 1` to the south. */
  open: z.array(z.number()),
  start: z.number(),
  goal: z.number(),
});
type Place = z.output<typeof place>;
const state = z.object({ cell: z.number(), moved: z.number(), reached: z.number() });
type State = z.output<typeof state>;

/** The cell that a move leads to; undefined: there is a wall. */
function led({ side, open }: Pick<Place, "side" | "open">, cell: number, move: Move): number | undefined {
  const [x, y] = [cell % side, Math.floor(cell / side)];
  const [toX, toY] = [x + moves[move][0], y + moves[move][1]];
  if (toX < 0 || toY < 0 || toX >= side || toY >= side) return undefined;
  const to = toY * side + toX;
  return open.includes(Math.min(cell, to) * 2 + Number(toX === x)) ? to : undefined;
}

/** The shortest way, as moves. In a maze of this kind there is one only. */
export function mazeWay(maze: Pick<Place, "side" | "open">, from: number, to: number): readonly Move[] {
  const came = new Map<number, readonly Move[]>([[from, []]]);
  for (const [cell, way] of came) {
    if (cell === to) return way;
    for (const move of names) {
      const next = led(maze, cell, move);
      if (next !== undefined && !came.has(next)) came.set(next, [...way, move]);
    }
  }
  throw new Error(`no way leads from ${from} to ${to}`);
}

/** A random spanning tree by depth first: every cell can be reached, by one way. */
function carved(side: number, random: Random): number[] {
  const all = Array.from({ length: side * side }, (_, cell) => cell * 2 + 1).flatMap((south) => [
    south - 1,
    south,
  ]);
  const [seen, open, stack] = [new Set([0]), [] as number[], [0]];
  while (stack.length > 0) {
    const cell = stack.at(-1)!;
    const free = names
      .map((move) => led({ side, open: all }, cell, move))
      .filter((next) => next !== undefined && !seen.has(next));
    const next = free.length === 0 ? undefined : free[random.integer(free.length)];
    if (next === undefined) {
      stack.pop();
      continue;
    }
    open.push(Math.min(cell, next) * 2 + Number(Math.abs(cell - next) === side));
    seen.add(next);
    stack.push(next);
  }
  return open.sort((one, other) => one - other);
}

/** The maze in characters: `#` walls, `.` ways, `A` and `G`. */
function drawnMap({ side, open, start, goal }: Place): string {
  const rows = Array.from({ length: 2 * side + 1 }, () => Array.from({ length: 2 * side + 1 }, () => "#"));
  for (let cell = 0; cell < side * side; cell++) {
    const [x, y] = [2 * (cell % side) + 1, 2 * Math.floor(cell / side) + 1];
    rows[y]![x] = cell === start ? "A" : cell === goal ? "G" : ".";
    if (open.includes(cell * 2)) rows[y]![x + 1] = ".";
    if (open.includes(cell * 2 + 1)) rows[y + 1]![x] = ".";
  }
  return rows.map((row) => row.join("")).join("\n");
}

const exits = (maze: Place, cell: number): readonly Move[] =>
  names.filter((move) => led(maze, cell, move) !== undefined);

/** What is seen at a cell: where the goal lies, and the exits. */
function seen(maze: Place, cell: number): string {
  const [dx, dy] = [
    (maze.goal % maze.side) - (cell % maze.side),
    Math.floor(maze.goal / maze.side) - Math.floor(cell / maze.side),
  ];
  const parts = [
    dy === 0 ? "" : `${Math.abs(dy)} ${dy > 0 ? "south" : "north"}`,
    dx === 0 ? "" : `${Math.abs(dx)} ${dx > 0 ? "east" : "west"}`,
  ];
  return `Goal: ${parts.filter((part) => part !== "").join(", ")}. Exits: ${exits(maze, cell).join(", ")}.`;
}

const isMove = (text: string): text is Move => Object.hasOwn(moves, text);

/** Cells of the shortest way after the start, with their places on it from 1. */
function milestones(maze: Place): ReadonlyMap<number, number> {
  const cells = new Map<number, number>();
  let cell = maze.start;
  for (const move of mazeWay(maze, maze.start, maze.goal))
    cells.set((cell = led(maze, cell, move)!), cells.size + 1);
  return cells;
}

function turn(maze: Place, now: State, text: string, perTurn: number, shaped: boolean): Turned<State> {
  const asked = actionsIn(text, perTurn);
  const way = shaped ? milestones(maze) : undefined;
  let { cell, moved, reached } = now;
  let invalid = asked.length === 0;
  for (const action of asked) {
    const next = isMove(action) ? led(maze, cell, action) : undefined;
    if (next === undefined) {
      invalid = true;
      break;
    }
    [cell, moved] = [next, moved + 1];
    if (way?.get(cell) === reached + 1) reached += 1;
    if (cell === maze.goal) break;
  }
  return {
    state: { cell, moved, reached },
    text: seen(maze, cell),
    won: cell === maze.goal,
    invalid,
    ...(shaped && { subgoals: reached }),
    components: { moves: moved },
  };
}

const world = ({ per_turn, bonus }: Params): World<Place, State> => ({
  place,
  state,
  begin: ({ start }) => ({ cell: start, moved: 0, reached: 0 }),
  ...(per_turn === 1 && { actions: (maze, { cell }) => exits(maze, cell) }),
  turn: (maze, now, text) => turn(maze, now, text, per_turn, bonus > 0),
  limit: ({ side }) => Math.ceil((2 * side * side) / per_turn),
});

function make(name: string, chosen: Params, side: number, random: Random): Task {
  const open = carved(side, random);
  const start = random.integer(side * side);
  const others = Array.from({ length: side * side }, (_, cell) => cell).filter((cell) => cell !== start);
  const maze: Place = { side, open, start, goal: others[random.integer(others.length)]! };
  const way = mazeWay(maze, start, maze.goal);
  return {
    id: `maze:${side}:${open.join(",")}:${start}>${maze.goal}`,
    source: name,
    env: "maze",
    prompt: fill(chosen.prompt, { map: drawnMap(maze), place: seen(maze, start), side: String(side) }),
    data: maze,
    ...(way.length <= chosen.per_turn && { solution: way.join("\n") }),
  };
}

export const maze = taskSource({
  name: "maze",
  summary:
    "Walk through a text maze to its goal. Played over turns, with `rollout.shape: environment`; with a large `per_turn` the whole way is one response.",
  formula: "r = 1 − pace·t/limit at the goal; λ for each next cell of the shortest way",
  sources: [
    "Crossing the Human-Robot Embodiment Gap with Sim-to-Real RL using One Human Demonstration",
    "LMRL Gym: Benchmarks for Multi-Turn Reinforcement Learning with Language Models",
  ],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "maze";
    return {
      ...leveled({
        env: "maze",
        name,
        place,
        levels: chosen.sides,
        box: [wholeKnob("side", [2], 20)],
        make: (side, random) => make(name, chosen, side, random),
        levelOf: ({ side }) => side,
      }),
      play: played(world(chosen), chosen),
    };
  },
});
