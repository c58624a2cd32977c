/**
 * Which files of a hook's folder are of the training that is meant: people train again into the same folder, from the start or
 * from a checkpoint. A training that begins after everything before it was written is another.
 */
import { hookLine } from "../../../../analysis/imported/hookRows.ts";
import { fileWindow } from "../../../../lib/growing/fileWindow.ts";
import { parseJson } from "../../../../../shared/rollouts/rollouts.ts";

/** What is known of one process's file. */
export interface HookSpan {
  readonly name: string;
  /** Milliseconds since 1970: when the process wrote its first and its last line. */
  readonly began: number;
  readonly ended: number;
  /** Of its first line; undefined: nothing says which step it is. */
  readonly step: number | undefined;
  /** Of its last. */
  readonly last: number;
}

export interface HookSession {
  readonly names: ReadonlySet<string>;
  readonly began: number;
  /** Steps from here on were trained again by the next session. */
  readonly before: number;
}

/** A process of the same training follows another at once; a training loads its model first. */
const restart = 3_000;
/** Whether what began then is no part of what had ended. */
export const isApart = (began: number, ended: number): boolean => began > ended + restart;

/** A line may hold a long text. */
const lookBytes = 4 * 1024 * 1024;

/** undefined: there is no whole line in it yet. */
export function spanOf(name: string, file: string, size: number): HookSpan | undefined {
  const head = fileWindow(file, 0, lookBytes).bytes.toString("utf8").split("\n", 1)[0] ?? "";
  const tail = fileWindow(file, Math.max(0, size - lookBytes), lookBytes)
    .bytes.toString("utf8")
    .trimEnd();
  const first = lineOf(head);
  if (first === undefined) return undefined;
  const lines = tail.split("\n");
  const last = lineOf(lines.at(-1) ?? "") ?? lineOf(lines.at(-2) ?? "") ?? first;
  return {
    name,
    began: first.time * 1000,
    ended: last.time * 1000,
    step: first.stepless ? undefined : first.step,
    last: last.step,
  };
}

function lineOf(text: string): ReturnType<typeof hookLine> {
  try {
    return hookLine(parseJson(text), 0);
  } catch {
    return undefined; // half a line
  }
}

/**
 * The sessions of the last training, the first of which began at its start, and how many trainings came before it.
 * @param spans of all files
 */
export function lastTraining(spans: readonly HookSpan[]): {
  readonly sessions: readonly HookSession[];
  readonly earlier: number;
} {
  const groups: HookSpan[][] = [];
  let [ended, reached] = [Number.NEGATIVE_INFINITY, 0];
  for (const span of spans.toSorted((one, other) => one.began - other.began)) {
    // A rank may be late in its first step; nothing trains again before the step after it.
    const apart = isApart(span.began, ended) && span.step !== undefined && reached > 1;
    if (apart || groups.length === 0) groups.push([span]);
    else groups.at(-1)!.push(span);
    ended = Math.max(ended, span.ended);
    reached = Math.max(apart ? 0 : reached, span.last);
  }
  const firsts = groups.map((group) => Math.min(...group.map(({ step = 0 }) => step)));
  // A training counts its steps from 1; one that goes on begins after its checkpoint.
  const starts = groups.flatMap((_, at) => (at === 0 || firsts[at]! <= 1 ? [at] : []));
  const from = starts.at(-1) ?? 0;
  return {
    earlier: starts.length - 1,
    sessions: groups.slice(from).map((group, at) => ({
      names: new Set(group.map(({ name }) => name)),
      began: Math.min(...group.map(({ began }) => began)),
      before: Math.min(Number.POSITIVE_INFINITY, ...firsts.slice(from + at + 1)),
    })),
  };
}
