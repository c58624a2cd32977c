/** What a run has logged, read from its own log: times and every number as they were recorded, of the steps that hold. */
import type { EndRecord, StartRecord } from "../../../shared/log/records.ts";
import { attemptsOf, logStart, readPlain } from "../../../shared/log/reader.ts";
import { millisecondsOf } from "../../../shared/log/recordTime.ts";
import type { PlainRecord } from "../../../shared/log/codec.ts";
import type { WireNumber } from "../../../shared/rollouts/rollouts.ts";
import { UserError } from "../../../shared/lib/errors.ts";

export interface LoggedStep {
  readonly step: number;
  /** Seconds since 1970. */
  readonly time: number;
  readonly values: Readonly<Record<string, WireNumber>>;
}

export interface LoggedRun {
  /** Of the first attempt. */
  readonly start: StartRecord;
  /** Of the last; undefined: it has not ended, or its process was ended. */
  readonly end: EndRecord | undefined;
  /** Ascending; a step has one entry. */
  readonly steps: readonly LoggedStep[];
}

/** Bytes of the log that are read at once. */
const budget = 8 * 1024 * 1024;

/**
 * @param folder the run's
 * @throws UserError where its log has no beginning
 */
export function loggedRun(folder: string): LoggedRun {
  const starts: StartRecord[] = [];
  let end: EndRecord | undefined;
  let steps = new Map<number, Logged>();
  for (const record of recordsOf(folder)) {
    if (record.kind === "start") {
      starts.push(record);
      end = undefined;
      steps = before(steps, record.resumed_at);
    } else if (record.kind === "end") end = record;
    else if (record.kind === "metrics") add(steps, record.step, record.time, record.values);
    else if (record.kind === "evaluation") add(steps, record.step, record.time, record.metrics);
  }
  const [start] = starts;
  if (start === undefined)
    throw new UserError("The run's log has no beginning.", {
      file: folder,
      code: "export-nothing",
      action: "Export it when its process has started, or look at it with gradus runs show.",
    });
  return { start, end, steps: [...steps.values()].sort((one, other) => one.step - other.step) };
}

interface Logged extends LoggedStep {
  time: number;
  readonly values: Record<string, WireNumber>;
}

/** What a later attempt trains again does not hold. */
const before = (steps: Map<number, Logged>, resumed: number | null): Map<number, Logged> =>
  resumed === null ? steps : new Map([...steps].filter(([step]) => step < resumed));

function add(
  steps: Map<number, Logged>,
  step: number,
  time: number,
  values: Readonly<Record<string, WireNumber>>,
): void {
  const known = steps.get(step) ?? { step, time: 0, values: {} };
  steps.set(step, known);
  known.time = Math.max(known.time, millisecondsOf(time) / 1000);
  Object.assign(known.values, values);
}

function* recordsOf(folder: string): Generator<PlainRecord> {
  for (const attempt of attemptsOf(folder)) {
    for (let position = logStart, more = true; more;) {
      const read = readPlain(folder, attempt, position, budget);
      for (const { records } of read.steps) yield* records;
      more = read.more;
      position = read.position;
    }
  }
}
