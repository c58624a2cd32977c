/**
 * A run step by step, and its verdict at each: a fold over steps and evaluations in their order, so that the verdict at a
 * step cannot depend on a later one. It goes on where more of a run is recorded.
 */
import type { EvaluationRow } from "../../../shared/protocol/protocol.ts";
import { alarms } from "./alarms/index.ts";
import { factsOf } from "./facts.ts";
import type { Alarmed, Finding, Sign } from "./finding.ts";
import { goldFall } from "./gold.ts";
import { compare, measureOf } from "./heldOut.ts";
import { Moment } from "./moment.ts";
import { quiet } from "./quiet.ts";
import type { VerdictRecord } from "./record.ts";
import { window } from "./trail.ts";

/** Steps for which the signs of an alarm must be there before it is raised, and be gone before it is lifted. */
export const hold = 10;

export interface FindingSpan {
  readonly finding: Finding;
  readonly from: number;
  readonly to: number;
}

/** What a run has recorded, or what it has recorded since. */
export type Recorded = Pick<VerdictRecord, "series" | "evaluations" | "stages">;

export class Timeline {
  /** As it stands at the last step. */
  readonly moment: Moment;
  /** Without gaps, from the first training step on; empty before it. */
  readonly spans: FindingSpan[] = [];
  private alarm: Alarmed | null = null;
  private seen: { readonly sign: Sign | null; readonly count: number } = { sign: null, count: 0 };
  /** Evaluations that have been read. */
  private read = 0;

  constructor(private readonly head: Pick<VerdictRecord, "config" | "steps" | "imported">) {
    this.moment = new Moment(factsOf(head));
  }

  /** @param recorded all evaluations and stages; of series what came after the steps so far @param to the last step that is read */
  extend(recorded: Recorded, to = Number.POSITIVE_INFINITY): this {
    const readers = Object.entries(recorded.series).map(
      ([name, points]) => [name, new Reader(points)] as const,
    );
    if (this.head.imported) this.moment.facts = factsOf(this.head, Object.keys(recorded.series));
    const measure = measureOf(recorded.evaluations);
    const evaluations = recorded.evaluations.filter(({ metrics }) => measure in metrics);
    for (const step of trainingSteps(recorded, this.head.imported)) {
      if (step > to) break;
      const values = new Map(
        readers.flatMap(([name, reader]) => {
          const value = reader.at(step);
          return value === undefined ? [] : [[name, value] as const];
        }),
      );
      this.moment.add(step, values);
      while (this.read < evaluations.length && evaluations[this.read]!.step <= step) {
        this.evaluate(evaluations.slice(0, ++this.read));
        this.moment.goldFall = goldFall(evaluations.slice(0, this.read), this.moment.facts.gold);
      }
      this.note(step, this.find(step));
    }
    return this;
  }

  /** @param made all so far */
  private evaluate(made: readonly EvaluationRow[]): void {
    const [first, later] = [made[0]!, made.at(-1)!];
    const look = made.length - 1;
    if (look === 0) return;
    const found = compare(first, later, look, this.moment.facts.asked, made);
    if (found !== null) this.moment.comparisons.push(found);
  }

  /** What was said is held until something else has been seen for some steps. */
  private find(step: number): Finding {
    const sign = this.moment.count < window ? null : firstOf(this.moment);
    const alike = this.seen.sign?.state === sign?.state;
    this.seen = { sign, count: alike ? this.seen.count + 1 : 1 };
    // What held-out results have shown, later ones take back.
    const settled = sign?.certain === true || (sign === null && this.alarm?.certain === true);
    if (this.seen.count >= hold || settled) this.alarm = this.goingOn(sign);
    const steps = this.head.imported ? null : this.head.steps;
    return this.alarm ?? quiet(this.moment, step, { steps });
  }

  /** An alarm that goes on began when it began. */
  private goingOn(sign: Sign | null): Alarmed | null {
    if (sign === null) return null;
    const since = this.alarm?.state === sign.state ? this.alarm.since : sign.since();
    return { ...sign, since };
  }

  private note(step: number, finding: Finding): void {
    const last = this.spans.at(-1);
    if (last !== undefined && last.finding.state === finding.state && last.finding.term === finding.term)
      this.spans[this.spans.length - 1] = { finding, from: last.from, to: step };
    else this.spans.push({ finding, from: step, to: step });
  }
}

function firstOf(moment: Moment): Sign | null {
  for (const alarm of alarms) {
    const sign = alarm(moment);
    if (sign !== null) return sign;
  }
  return null;
}

/** Any of these is recorded at each training step. */
const recordedAlways = ["rollout/count", "reward/total", "groups/drawn", "update/loss"];

/** Steps of rl stages; all that another trainer made. */
function trainingSteps({ series, stages }: Recorded, imported: boolean): readonly number[] {
  const all = new Set(recordedAlways.flatMap((name) => Array.from(series[name]?.steps ?? [])));
  const kindAt = (step: number): string => stages.findLast((stage) => stage.step <= step)?.kind ?? "rl";
  return [...all].filter((step) => imported || kindAt(step) === "rl").sort((a, b) => a - b);
}

/** A series read forwards. */
class Reader {
  private place = 0;
  constructor(private readonly points: VerdictRecord["series"][string]) {}

  at(step: number): number | undefined {
    const { steps, values } = this.points;
    while (this.place < steps.length && steps[this.place]! < step) this.place += 1;
    return steps[this.place] === step ? values[this.place] : undefined;
  }
}
