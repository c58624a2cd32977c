/** What a panel leaves for the next one of the same run, and how it is read again. */
import type { Lane } from "../protocol/protocol.ts";

/** A rollout of the run. */
export interface RolloutPlace {
  readonly step: number;
  readonly group: string;
  readonly index: number;
}

/** Which family of arms is opened on the lanes, and which arm; null: none. */
export interface LanesPath {
  readonly family: string | null;
  readonly arm: string | null;
}
/** Groups that a person has marked on the lanes. */
export interface Brush {
  readonly by: Lane;
  readonly from: number;
  readonly to: number;
  /** Arms, families or tasks; empty: all. */
  readonly names: readonly string[];
}

/** What survives a reload of the window: a place in a run. The run itself is asked for again. */
export interface PanelState {
  readonly run: string;
  /** First and last step in view; null: the whole run. */
  readonly range: readonly [number, number] | null;
  /** The step that the cursor stays at; null: the last one. */
  readonly pinned: number | null;
  readonly scroll: number;
  /** Charts shown as tables, by id. */
  readonly tables: readonly string[];
  /** The rollout that is explained, or null. */
  readonly rollout: RolloutPlace | null;
  /** What is opened on the curriculum's lanes, and what is marked there. */
  readonly lanes: LanesPath;
  readonly brush: Brush | null;
}

const record = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** A state that some version of the panel has left, or null if it is not one. */
export function readPanelState(value: unknown): PanelState | null {
  if (!record(value)) return null;
  const { run, range, pinned, scroll, tables, rollout, lanes, brush } = value;
  if (typeof run !== "string" || run === "") return null;
  const ends = Array.isArray(range) ? range.filter((end) => typeof end === "number") : [];
  const [from, to] = ends;
  return {
    run,
    range: from !== undefined && to !== undefined && from < to ? [from, to] : null,
    pinned: typeof pinned === "number" ? pinned : null,
    scroll: typeof scroll === "number" ? scroll : 0,
    tables: Array.isArray(tables) ? tables.filter((table) => typeof table === "string") : [],
    rollout: readPlace(rollout),
    lanes: readPath(lanes),
    brush: readBrush(brush),
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

function readPath(value: unknown): LanesPath {
  const { family, arm } = record(value) ? value : {};
  return { family: textOrNull(family), arm: textOrNull(arm) };
}

function readBrush(value: unknown): Brush | null {
  if (!record(value)) return null;
  const { by, from, to, names } = value;
  if (by !== "arm" && by !== "task" && by !== "family") return null;
  if (typeof from !== "number" || typeof to !== "number" || !Array.isArray(names)) return null;
  return { by, from, to, names: names.filter((name) => typeof name === "string") };
}

function readPlace(value: unknown): RolloutPlace | null {
  if (!record(value)) return null;
  const { step, group, index } = value;
  return typeof step === "number" && typeof group === "string" && typeof index === "number"
    ? { step, group, index }
    : null;
}
