/** What a log, or a tracker's file, says of its training, without a store: for whoever looks at a folder that nobody has imported. */
import { statSync } from "node:fs";
import { basename } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import type { EvaluationRow } from "../../../shared/protocol/protocol.ts";
import { fromWire } from "../../../shared/rollouts/rollouts.ts";
import { writerNames } from "../../../shared/run/origin.ts";
import { plainText, type VerdictState } from "../../../shared/run/verdict.ts";
import { isRead, type VerdictRecord } from "../../analysis/verdict/record.ts";
import { Timeline } from "../../analysis/verdict/timeline.ts";
import { verdictOf } from "../../analysis/verdict/verdict.ts";
import type { Feed, FeedPart } from "./feeds/feed.ts";
import { findLog } from "./feeds/console/findLog.ts";
import { stateName } from "./feeds/console/stateFeed.ts";
import { findFeed } from "./feeds/findFeed.ts";
import { StepParts } from "./feeds/stepParts.ts";
import { HeldOutRecords, isHeldOut } from "./heldOut.ts";

export interface LogVerdict {
  /** Of the file. */
  readonly name: string;
  /** As people call it. */
  readonly trainer: string;
  /** Steps with metrics. */
  readonly steps: number;
  /** `isAlarm` says whether it is worth a line. */
  readonly state: VerdictState;
  /** Two to four words. */
  readonly label: string;
  /** With the numbers that decide, ended by a full stop. */
  readonly sentence: string;
  /** Since when; null: it has no beginning. */
  readonly step: number | null;
  /** What the reader of the log found worth saying of it, as sentences without their ends. */
  readonly notes: readonly string[];
  /** Whether there is more than was read. */
  readonly cut: boolean;
}

/** Some thousands of steps with two hundred metrics each. */
const mostBytes = 48 * 1024 * 1024;

/**
 * @param path a log, a state, a tracker's file, or a folder with a log
 * @param most bytes that are read; what follows them is not looked at
 * @returns undefined: it is no log, or nothing in it is a step
 */
export function verdictOfLog(path: string, most = mostBytes): LogVerdict | undefined {
  try {
    const tracked = statSync(path).isFile() ? findFeed(path) : undefined;
    const found = tracked ?? findLog(path, most);
    if (found === undefined) return undefined;
    const feed = found.open({ config: undefined });
    const { parts, cut } = allParts(feed, most);
    const record = recordOf(parts);
    // Trackers are of any training: one without a reward is none of ours.
    if (tracked !== undefined && !Object.keys(record.series).some((name) => name.startsWith("reward/")))
      return undefined;
    const verdict = verdictOf(record, new Timeline(record).extend(record));
    if (verdict === null) return undefined;
    const { state, label, headline, since } = verdict;
    return {
      name: basename(tracked === undefined ? found.folder : path),
      trainer: writerNames[found.trainer],
      steps: parts.length,
      state,
      label: plainText(label),
      sentence: plainText(headline),
      step: since,
      notes: feed.about().notes,
      cut: cut || (basename(found.folder) !== stateName && statSync(found.folder).size > most),
    };
  } catch (error) {
    // A state that cannot be parsed, a file that may not be read: whoever imports it is told.
    if (error instanceof UserError || isOfFile(error)) return undefined;
    throw error;
  }
}

const isOfFile = (error: unknown): boolean => error instanceof Error && "code" in error;

/** One a step, ascending. */
function allParts(feed: Feed, most: number): { readonly parts: readonly FeedPart[]; readonly cut: boolean } {
  const steps = new StepParts();
  let bytes = 0;
  let more = true;
  while (more && bytes < most) {
    const slice = feed.next(true);
    for (const { step, time, values = {} } of slice.parts) steps.add(step, time, values);
    bytes += slice.bytes;
    ({ more } = slice);
  }
  feed.close();
  return { parts: steps.all(), cut: more };
}

function recordOf(parts: readonly FeedPart[]): VerdictRecord {
  const points: Record<string, { steps: number[]; values: number[] }> = {};
  const evaluations: EvaluationRow[] = [];
  const heldOut = new HeldOutRecords();
  const measured = new Set<string>();
  for (const { step, values = {} } of parts) {
    for (const [name, value] of Object.entries(values)) {
      if (isHeldOut(name)) measured.add(name);
      if (!isRead(name)) continue;
      const own = (points[name] ??= { steps: [], values: [] });
      own.steps.push(step);
      own.values.push(fromWire(value));
    }
    for (const { role, metrics } of heldOut.of(step, 0, values))
      if (role !== "matrix") evaluations.push({ step, role, metrics });
  }
  const last = parts.at(-1)?.step ?? 0;
  const series = Object.entries(points).map(([name, { steps, values }]) => [
    name,
    { steps: Float64Array.from(steps), values: Float64Array.from(values) },
  ]);
  return {
    config: {},
    step: last,
    steps: last + 1,
    stages: [],
    series: Object.fromEntries(series),
    evaluations,
    heldOut: [...measured],
    groups: [],
    failures: [],
    ended: true,
    imported: true,
  };
}
