/** The curriculum's lanes apart from how they are drawn: places, words, what a brush covers. Pure. */
import type {
  CurriculumLane,
  CurriculumOverview,
  GroupTally,
  TaskOrigin,
} from "../../../shared/protocol/protocol.ts";
import { formatCount, formatFraction, formatNumber, plural } from "../../../shared/lib/format.ts";
import type { Brush, CurriculumView, LanesPath, PanelRun } from "../../../shared/editor/runPanel.ts";

/** A cell of the picture: a lane, counted from the top, and a column of steps. */
export interface CellPlace {
  readonly lane: number;
  readonly column: number;
}
export interface Cell {
  /** Share of right rollouts; null: none was scored. */
  readonly rate: number | null;
  readonly drawn: number;
  readonly admitted: number;
}

export const columnCount = ({ from, to, width }: CurriculumOverview): number =>
  Math.max(1, Math.ceil((to - from + 1) / width));

/** First and last step of a column. */
export function stepsOf({ from, to, width }: CurriculumOverview, column: number): readonly [number, number] {
  const first = from + column * width;
  return [first, Math.min(to, first + width - 1)];
}
export const columnOf = (overview: CurriculumOverview, step: number): number =>
  Math.min(columnCount(overview) - 1, Math.max(0, Math.floor((step - overview.from) / overview.width)));

function cellAt(overview: CurriculumOverview, { lane, column }: CellPlace): Cell | null {
  const own = overview.lanes[lane];
  const index = own?.columns.indexOf(column) ?? -1;
  if (own === undefined || index < 0) return null;
  return { rate: own.rates[index] ?? null, drawn: own.drawn[index]!, admitted: own.admittedIn[index]! };
}

/** "steps 20 to 24". */
function spanOf(overview: CurriculumOverview, column: number): string {
  const [first, last] = stepsOf(overview, column);
  return first === last ? `step ${first}` : `steps ${first} to ${last}`;
}

/** "countdown/3, steps 20 to 24: 42 % right, 3 of 5 groups trained". */
export function describeCell(overview: CurriculumOverview, place: CellPlace): string {
  const where = `${overview.lanes[place.lane]?.name ?? ""}, ${spanOf(overview, place.column)}`;
  const cell = cellAt(overview, place);
  const { made } = overview.lanes[place.lane] ?? {};
  const origin = made === undefined ? "" : `  ·  ${describeOrigin(made)}`;
  if (cell === null) return `${where}: not drawn${origin}`;
  return `${where}: ${formatFraction(cell.rate)} right, ${cell.admitted} of ${plural(cell.drawn, "group")} trained${origin}`;
}

/** All lanes in words: "countdown/3: from 12 % right in steps 20 to 24 to 63 % in steps 80 to 84, lowest …". */
export function summarizeLanes(overview: CurriculumOverview): string {
  const { lanes, more } = overview;
  const left = Math.max(0, lanes.length - mostSaid) + more;
  return [
    ...lanes.slice(0, mostSaid).map((lane) => summarizeLane(overview, lane)),
    ...(left > 0 ? [`${formatCount(left)} more: the table has those that are shown.`] : []),
  ].join(" ");
}
const mostSaid = 8;

function summarizeLane(
  overview: CurriculumOverview,
  { name, columns, rates, groups }: CurriculumLane,
): string {
  const known = columns.flatMap((column, i) => {
    const rate = rates[i];
    return rate === null || rate === undefined ? [] : [{ column, rate }];
  });
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return `${name}: nothing was scored.`;
  const say = ({ column, rate }: (typeof known)[number]): string =>
    `${formatFraction(rate)} right in ${spanOf(overview, column)}`;
  const by = [...known].sort((one, other) => one.rate - other.rate);
  return `${name}, over ${plural(groups, "group")}: from ${say(first)} to ${say(last)}, lowest ${say(by[0]!)}, highest ${say(by.at(-1)!)}.`;
}

/** Share of right rollouts over all steps in view. */
export const rateOf = ({ successes, rollouts }: GroupTally): number | null =>
  rollouts > 0 ? successes / rollouts : null;

const sumOf = (tallies: readonly GroupTally[], key: keyof GroupTally): number =>
  tallies.reduce((sum, tally) => sum + tally[key], 0);

/** What was drawn, what trained, and what was spent on groups that teach nothing. */
export function describeTotals({ columns, unread = 0 }: CurriculumOverview): readonly string[] {
  const sum = (key: keyof GroupTally): number => sumOf(columns, key);
  const [groups, admitted, tokens] = [sum("groups"), sum("admitted"), sum("tokens")];
  // Of what has been read so far nothing can be said that is true of the run.
  if (unread > 0)
    return [`Reading the rollouts: ${plural(groups, "group")} counted, ${plural(unread, "step")} left.`];
  if (groups === 0) return ["No groups were drawn in these steps."];
  const spent = (what: string, key: "dead" | "exhausted", burnt: "deadTokens" | "exhaustedTokens"): string =>
    `${plural(sum(key), "group")} ${what}${tokens === 0 ? "" : `: ${formatNumber(sum(burnt))} tokens, ${formatFraction(sum(burnt) / tokens)}`}`;
  const unmeasured = sum("unmeasured");
  return [
    `${plural(groups, "group")} drawn, ${formatCount(admitted)} trained (${formatFraction(admitted / groups)})`,
    spent("all wrong", "dead", "deadTokens"),
    spent("all right", "exhausted", "exhaustedTokens"),
    ...(unmeasured > 0 ? [`tokens of ${plural(unmeasured, "group")} not known`] : []),
  ];
}

/** "Left out: all alike, 120 groups · too easy, 14 groups". */
export const describeReasons = ({ reasons }: CurriculumOverview): string =>
  reasons.length === 0
    ? ""
    : `Left out: ${reasons.map(({ reason, groups }) => `${reason}, ${plural(groups, "group")}`).join("  ·  ")}`;

/** Two opposite corners of a part of the picture. */
export interface Area {
  readonly from: CellPlace;
  readonly to: CellPlace;
}

/** Where a cell of one picture lies in the next: by the lane's name and the column's first step. Null: it is gone. */
export function carriedPlace(
  before: CurriculumOverview,
  after: CurriculumOverview,
  { lane, column }: CellPlace,
): CellPlace | null {
  const [step] = stepsOf(before, column);
  const now = after.lanes.findIndex(({ name }) => name === before.lanes[lane]?.name);
  if (before.by !== after.by || now < 0 || step < after.from || step > after.to) return null;
  return { lane: now, column: columnOf(after, step) };
}

export function carriedArea(
  before: CurriculumOverview,
  after: CurriculumOverview,
  { from, to }: Area,
): Area | null {
  const [begin, end] = [carriedPlace(before, after, from), carriedPlace(before, after, to)];
  return begin === null || end === null ? null : { from: begin, to: end };
}

/** Names of lanes; in an opened family without the path that all of them begin with. */
export function shownNames({ lanes, family }: CurriculumOverview): readonly string[] {
  const names = lanes.map(({ name }) => name);
  const [first = ""] = names;
  let shared = family === null || names.length < 2 ? "" : first.slice(0, first.lastIndexOf("/") + 1);
  while (!names.every((name) => name.startsWith(shared)))
    shared = shared.slice(0, shared.lastIndexOf("/", shared.length - 2) + 1);
  return names.map((name) => name.slice(shared.length));
}

/** What lies between two cells. All lanes of the picture include those below it, which are not drawn. */
export function brushOf(overview: CurriculumOverview, one: CellPlace, other: CellPlace): Brush {
  const [top, bottom] = [Math.min(one.lane, other.lane), Math.max(one.lane, other.lane)];
  const [from] = stepsOf(overview, Math.min(one.column, other.column));
  const [, to] = stepsOf(overview, Math.max(one.column, other.column));
  const { by, arm, family } = overview;
  const whole = top === 0 && bottom === overview.lanes.length - 1;
  if (whole && arm !== null) return { by: "arm", from, to, names: [arm] };
  if (whole && family !== null) return { by: "family", from, to, names: [family] };
  const names = whole ? [] : overview.lanes.slice(top, bottom + 1).map(({ name }) => name);
  return { by, from, to, names };
}

/** Where a brush lies on the picture as it is now: adjacent lanes are one area. Empty: out of view. */
export function areasOf(overview: CurriculumOverview, { by, from, to, names }: Brush): readonly Area[] {
  if (to < overview.from || from > overview.to) return [];
  const [first, last] = [columnOf(overview, from), columnOf(overview, to)];
  const opened = overview.arm ?? overview.family;
  const whole = names.length === 0 || (by !== overview.by && opened !== null && names.includes(opened));
  const marked = overview.lanes.map(({ name }) => whole || (by === overview.by && names.includes(name)));
  return marked.flatMap((is, lane) => {
    if (!is || marked[lane - 1] === true) return [];
    const end = marked.indexOf(false, lane);
    const bottom = (end === -1 ? marked.length : end) - 1;
    return [{ from: { lane, column: first }, to: { lane: bottom, column: last } }];
  });
}

/** What an open place asks for. */
export const viewOf = (path: LanesPath, [from, to]: readonly [number, number]): CurriculumView => ({
  by: path.arm !== null ? "task" : path.family !== null ? "arm" : "auto",
  ...path,
  from,
  to,
});
/** Where a lane leads further; null: it is a single task. */
export function opensTo({ by, family }: CurriculumOverview, lane: CurriculumLane): LanesPath | null {
  if (by === "family") return { family: lane.name, arm: null };
  return by === "arm" && lane.tasks > 1 ? { family, arm: lane.name } : null;
}
/** One level up. */
export const above = ({ family, arm }: LanesPath): LanesPath => ({
  family: arm === null ? null : family,
  arm: null,
});
export const opened = ({ family, arm }: LanesPath): boolean => family !== null || arm !== null;

/** "made of a and b by policy (evolve) at step 12, solved 1 of 4 when tried". */
export function describeOrigin({ parents, author, transform, step, tried }: TaskOrigin): string {
  const rate = tried === null ? "" : `, solved ${tried.successes} of ${tried.rollouts} when tried`;
  return `made from ${parents.join(" and ")} by ${author} (${transform}) at step ${step}${rate}`;
}

export const anyMade = ({ lanes }: CurriculumOverview): boolean =>
  lanes.some(({ made }) => made !== undefined);

const originCells = (made: TaskOrigin | undefined): readonly string[] =>
  made === undefined
    ? ["", "", "", ""]
    : [
        made.parents.join(", "),
        `${made.author} (${made.transform})`,
        String(made.step),
        made.tried === null ? "–" : `${made.tried.successes} of ${made.tried.rollouts}`,
      ];

export const laneRows = (overview: CurriculumOverview): readonly (readonly string[])[] =>
  overview.lanes.map((lane: CurriculumLane) => [
    lane.name,
    formatCount(lane.groups),
    formatFraction(rateOf(lane)),
    formatCount(lane.admitted),
    formatCount(lane.dead),
    formatCount(lane.exhausted),
    formatNumber(lane.tokens),
    formatNumber(lane.deadTokens + lane.exhaustedTokens),
    ...(anyMade(overview) ? originCells(lane.made) : []),
  ]);

/** The end of a stage that its config's `steps` has set. */
export interface Boundary {
  readonly stage: string;
  readonly start: number;
  /** First step of the stage after it. */
  readonly step: number;
  readonly steps: number;
  /** Last step that it may be moved to. */
  readonly limit: number;
}

/** Of stages that ended when their steps were done, not before by another rule. */
export function boundariesOf({ stages, planned, summary }: PanelRun): readonly Boundary[] {
  return stages.slice(1).flatMap(({ step }, i) => {
    const ended = stages[i]!;
    const steps = planned.find(({ name }) => name === ended.name)?.steps ?? null;
    if (steps === null || step - ended.step !== steps) return [];
    const limit = Math.max(step, summary.steps, stages[i + 2]?.step ?? 0);
    return [{ stage: ended.name, start: ended.step, step, steps, limit }];
  });
}
