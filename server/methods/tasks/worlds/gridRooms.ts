/** Rooms on a grid, with things in them: where one can go, what is seen, and how a mission is done in the fewest actions. */
import { z } from "zod";
import type { Random } from "../../../lib/random.ts";

export const kinds = ["ball", "box", "key"] as const;
export const colors = ["red", "green", "blue", "yellow", "purple", "grey"] as const;

const mission = z.object({
  kind: z.enum(["go_to", "pick_up", "put_next"]),
  /** Numbers of things. */
  what: z.number(),
  /** Of `put_next`. */
  to: z.number().nullable(),
});
export type Mission = z.output<typeof mission>;

export const gridPlace = z.object({
  /** Rooms from west to east, and from north to south. */
  across: z.number(),
  down: z.number(),
  /** Cells along the inside of a room. */
  size: z.number(),
  /** Cells in walls that are open. */
  doorways: z.array(z.number()),
  things: z.array(z.object({ name: z.string(), cell: z.number() })),
  start: z.object({ cell: z.number(), facing: z.number() }),
  mission,
});
export type GridPlace = z.output<typeof gridPlace>;

export const gridState = z.object({
  cell: z.number(),
  /** 0 north, 1 east, 2 south, 3 west. */
  facing: z.number(),
  /** Number of the thing that is carried; −1: none. */
  carried: z.number(),
  /** The cell of each thing. */
  cells: z.array(z.number()),
  reached: z.number(),
});
export type GridState = z.output<typeof gridState>;

/** A whole grid's side to side: its rooms, and walls around each. */
export const widthOf = ({ across, size }: Pick<GridPlace, "across" | "size">): number =>
  across * (size + 1) + 1;

export const ahead = (place: GridPlace, cell: number, facing: number): number =>
  cell + [-widthOf(place), 1, widthOf(place), -1][facing]!;

export function isFloor(place: GridPlace, cell: number): boolean {
  const width = widthOf(place);
  const [x, y] = [cell % width, Math.floor(cell / width)];
  const wall = x % (place.size + 1) === 0 || y % (place.size + 1) === 0;
  return !wall || place.doorways.includes(cell);
}

/** Rooms that a cell belongs to: a doorway belongs to two. */
export function roomsOf(place: GridPlace, cell: number): readonly number[] {
  const width = widthOf(place);
  const step = place.size + 1;
  const [x, y] = [cell % width, Math.floor(cell / width)];
  const columns = x % step === 0 ? [x / step - 1, x / step] : [Math.floor(x / step)];
  const rows = y % step === 0 ? [y / step - 1, y / step] : [Math.floor(y / step)];
  return rows.flatMap((row) => columns.map((column) => row * place.across + column));
}

export const thingAt = (state: Pick<GridState, "cells" | "carried">, cell: number): number =>
  state.cells.findIndex((own, thing) => own === cell && thing !== state.carried);

export const isNextTo = (place: GridPlace, one: number, other: number): boolean =>
  [0, 1, 2, 3].some((facing) => ahead(place, one, facing) === other);

/** Whether what is asked has been done. */
export function isDone(place: GridPlace, { kind, what, to }: Mission, state: GridState): boolean {
  if (kind === "pick_up") return state.carried === what;
  if (kind === "go_to") return thingAt(state, ahead(place, state.cell, state.facing)) === what;
  return (
    state.carried !== what &&
    state.carried !== to &&
    isNextTo(place, state.cells[what]!, state.cells[to ?? what]!)
  );
}

/** The place without its mission. */
export type Rooms = Omit<GridPlace, "mission" | "start" | "things">;

/** So many rooms, in a rectangle as square as it can be, each joined to those next to it by a doorway. */
export function roomsMade(rooms: number, size: number, random: Random): Rooms {
  const down = [4, 3, 2].find((rows) => rooms % rows === 0 && rows * rows <= rooms) ?? 1;
  const across = rooms / down;
  const [step, width] = [size + 1, widthOf({ across, size })];
  const doorways: number[] = [];
  for (let room = 0; room < rooms; room++) {
    const [column, row] = [room % across, Math.floor(room / across)];
    const east = (row * step + 1 + random.integer(size)) * width + (column + 1) * step;
    const south = (row + 1) * step * width + column * step + 1 + random.integer(size);
    if (column + 1 < across) doorways.push(east);
    if (row + 1 < down) doorways.push(south);
  }
  return { across, down, size, doorways };
}

/** Every cell inside the rooms. */
export function insides(rooms: Rooms): number[] {
  const [step, width] = [rooms.size + 1, widthOf(rooms)];
  return Array.from({ length: width * (rooms.down * step + 1) }, (_, cell) => cell).filter(
    (cell) => (cell % width) % step !== 0 && Math.floor(cell / width) % step !== 0,
  );
}

export type Moves = "turn" | "compass";
export const compass = ["north", "east", "south", "west"] as const;
const turns = ["turn left", "turn right", "go forward"] as const;

/** What an action makes of a state; undefined: it does nothing here, or is none. */
export function acted(
  place: GridPlace,
  moves: Moves,
  state: GridState,
  action: string,
): GridState | undefined {
  const { cell, facing, carried } = state;
  const front = ahead(place, cell, facing);
  if (action === "pick up") {
    const thing = thingAt(state, front);
    return carried >= 0 || thing < 0 ? undefined : { ...state, carried: thing };
  }
  if (action === "put down") {
    if (carried < 0 || !isFree(place, state, front) || place.doorways.includes(front)) return undefined;
    return { ...state, carried: -1, cells: state.cells.map((own, at) => (at === carried ? front : own)) };
  }
  const towards =
    moves === "compass"
      ? compass.findIndex((name) => name === action)
      : action === "go forward"
        ? facing
        : -1;
  if (moves === "turn" && action === "turn left") return { ...state, facing: (facing + 3) % 4 };
  if (moves === "turn" && action === "turn right") return { ...state, facing: (facing + 1) % 4 };
  if (towards < 0) return undefined;
  const to = ahead(place, cell, towards);
  if (isFree(place, state, to)) return { ...state, cell: to, facing: towards };
  return towards === facing ? undefined : { ...state, facing: towards };
}

const isFree = (place: GridPlace, state: GridState, cell: number): boolean =>
  isFloor(place, cell) && thingAt(state, cell) < 0;

/** Actions that do something in a state. */
export const actionsAt = (place: GridPlace, moves: Moves, state: GridState): readonly string[] =>
  [...(moves === "compass" ? compass : turns), "pick up", "put down"].filter(
    (action) => acted(place, moves, state, action) !== undefined,
  );

/** The fewest actions that do a mission, moving by the way; undefined: it cannot be done. */
export function wayTo(place: GridPlace, moves: Moves, from: GridState): readonly string[] | undefined {
  const { kind, what, to } = place.mission;
  const isWhat = (front: number): boolean => thingAt(from, front) === what;
  if (kind !== "put_next") {
    const found = searched(place, moves, from, isWhat);
    return found && (kind === "go_to" ? found.way : [...found.way, "pick up"]);
  }
  const fetched = from.carried === what ? { way: [], state: from } : searched(place, moves, from, isWhat);
  if (fetched === undefined) return undefined;
  const carrying: GridState = { ...fetched.state, carried: what };
  const arrived = searched(
    place,
    moves,
    carrying,
    (front) =>
      isNextTo(place, front, from.cells[to ?? what]!) &&
      isFree(place, carrying, front) &&
      !place.doorways.includes(front),
  );
  if (arrived === undefined) return undefined;
  return [...fetched.way, ...(from.carried === what ? [] : ["pick up"]), ...arrived.way, "put down"];
}

/**
 * Breadth first over where one is and faces, as `cell * 4 + facing`; things stay where they are.
 * @param ends whether the cell ahead is one that is looked for
 */
function searched(
  place: GridPlace,
  moves: Moves,
  from: GridState,
  ends: (front: number) => boolean,
): { readonly state: GridState; readonly way: readonly string[] } | undefined {
  const width = widthOf(place);
  const steps = [-width, 1, width, -1];
  const names = moves === "compass" ? compass : turns;
  const start = from.cell * 4 + from.facing;
  /** How each was reached: from where, and by which action. */
  const came = new Map<number, readonly [from: number, action: number]>([[start, [-1, -1]]]);
  const wayOf = (at: number): string[] => {
    const [before, action] = came.get(at)!;
    return before < 0 ? [] : [...wayOf(before), names[action]!];
  };
  for (const [at] of came) {
    const [cell, facing] = [at >> 2, at & 3];
    if (ends(cell + steps[facing]!)) return { state: { ...from, cell, facing }, way: wayOf(at) };
    const forward = (towards: number): number => {
      const to = cell + steps[towards]!;
      return (isFree(place, from, to) ? to : cell) * 4 + towards;
    };
    const next =
      moves === "compass"
        ? [forward(0), forward(1), forward(2), forward(3)]
        : [cell * 4 + ((facing + 3) & 3), cell * 4 + ((facing + 1) & 3), forward(facing)];
    for (const [action, to] of next.entries()) if (!came.has(to)) came.set(to, [at, action]);
  }
  return undefined;
}
