/** A grid world in words: what is asked, what is seen, and the list of sub-goals that leads to it. */
import {
  ahead,
  isDone,
  isFloor,
  roomsOf,
  widthOf,
  type GridPlace,
  type GridState,
  type Mission,
  type Moves,
} from "./gridRooms.ts";

const nameOf = (place: GridPlace, thing: number): string => `the ${place.things[thing]!.name}`;

export function missionText(place: GridPlace, { kind, what, to }: Mission = place.mission): string {
  const name = nameOf(place, what);
  if (kind === "go_to") return `go to ${name}`;
  return kind === "pick_up" ? `pick up ${name}` : `put ${name} next to ${nameOf(place, to!)}`;
}

/** A step on the way: to be in a room, or a mission of its own. */
type Subgoal = Mission | { readonly kind: "room"; readonly room: number };

export const subgoalText = (place: GridPlace, subgoal: Subgoal): string =>
  subgoal.kind === "room" ? `enter room ${subgoal.room + 1}` : missionText(place, subgoal);

/** Rooms after the first on the shortest way from one to another: along the row, then along the column. */
function roomsBetween({ across }: GridPlace, from: number, to: number): Subgoal[] {
  const way: Subgoal[] = [];
  let [column, row] = [from % across, Math.floor(from / across)];
  const [lastColumn, lastRow] = [to % across, Math.floor(to / across)];
  while (column !== lastColumn || row !== lastRow) {
    if (column === lastColumn) row += Math.sign(lastRow - row);
    else column += Math.sign(lastColumn - column);
    way.push({ kind: "room", room: row * across + column });
  }
  return way;
}

/** Sub-goals before the mission itself, in their order. */
export function subgoalsOf(place: GridPlace): readonly Subgoal[] {
  const { mission, things, start } = place;
  const roomOf = (cell: number): number => roomsOf(place, cell)[0]!;
  const { what, to } = mission;
  const thing = roomOf(things[what]!.cell);
  const first = roomsBetween(place, roomOf(start.cell), thing);
  if (mission.kind === "go_to") return first;
  first.push({ kind: "go_to", what, to: null });
  if (mission.kind === "pick_up") return first;
  return [
    ...first,
    { kind: "pick_up", what, to: null },
    ...roomsBetween(place, thing, roomOf(things[to!]!.cell)),
  ];
}

/** How many of the list have been reached in their order, this state included. */
export function reachedIn(place: GridPlace, subgoals: readonly Subgoal[], state: GridState): number {
  let { reached } = state;
  for (let next = subgoals[reached]; next !== undefined; next = subgoals[reached]) {
    const met =
      next.kind === "room" ? roomsOf(place, state.cell).includes(next.room) : isDone(place, next, state);
    if (!met) break;
    reached += 1;
  }
  return reached;
}

interface Telling {
  readonly moves: Moves;
  readonly view: "sentences" | "short";
}

/** Cells ahead and to the right of the one who looks (compass: north and east). */
function offset(place: GridPlace, state: GridState, moves: Moves, cell: number): readonly [number, number] {
  const width = widthOf(place);
  const east = (cell % width) - (state.cell % width);
  const north = Math.floor(state.cell / width) - Math.floor(cell / width);
  const facing = moves === "compass" ? 0 : state.facing;
  const [forward, right] = [
    [north, east],
    [east, -north],
    [-north, -east],
    [-east, north],
  ][facing]!;
  return [forward!, right!];
}

const words = {
  turn: [
    ["forward", "behind"],
    ["right", "left"],
  ],
  compass: [
    ["north", "south"],
    ["east", "west"],
  ],
} as const;

/** "2 steps forward and 1 step left", or "2f1l". */
function distance([first, second]: readonly [number, number], { moves, view }: Telling): string {
  const parts = [first, second].flatMap((steps, axis) => {
    if (steps === 0) return [];
    const way = words[moves][axis === 0 ? 0 : 1][steps > 0 ? 0 : 1];
    const count = Math.abs(steps);
    return [view === "short" ? `${count}${way[0]}` : `${count} step${count === 1 ? "" : "s"} ${way}`];
  });
  return parts.join(view === "short" ? "" : " and ");
}

/** What is seen: the things of the room, its doorways, and the wall ahead. */
export function seen(place: GridPlace, state: GridState, telling: Telling): string {
  const own = roomsOf(place, state.cell);
  const isSeen = (cell: number): boolean =>
    cell !== state.cell && roomsOf(place, cell).some((room) => own.includes(room));
  const at = (cell: number): string => distance(offset(place, state, telling.moves, cell), telling);
  const things = place.things.flatMap(({ name }, thing) =>
    thing === state.carried || !isSeen(state.cells[thing]!) ? [] : [[name, at(state.cells[thing]!)]],
  );
  const doorways = place.doorways.filter(isSeen).map((cell) => ["doorway", at(cell)]);
  const carried = state.carried < 0 ? undefined : place.things[state.carried]!.name;
  const found = [...things, ...doorways];
  if (telling.view === "short")
    return [
      ...found.map(([name, where]) => `${name} ${where}`),
      ...(carried ? [`have ${carried}`] : []),
    ].join("; ");
  const sentences = found.map(([name, where]) => `You see a ${name} ${where}.`);
  if (telling.moves === "turn") sentences.push(`You see a wall ${wallAhead(place, state)} forward.`);
  if (carried !== undefined) sentences.push(`You carry a ${carried}.`);
  return sentences.join(" ");
}

/** Steps to the first cell ahead that is wall. */
function wallAhead(place: GridPlace, state: GridState): string {
  let steps = 1;
  for (let cell = ahead(place, state.cell, state.facing); isFloor(place, cell); steps++)
    cell = ahead(place, cell, state.facing);
  return `${steps} step${steps === 1 ? "" : "s"}`;
}
