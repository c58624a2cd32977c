/**
 * A run's log, record by record. It only collects; `commit` ends a step, all or none. Without a log (a dry
 * run) the same records go to the listener alone.
 */
import { toWire } from "../../../../shared/rollouts/rollouts.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { EventRecord, LogRecord } from "../../../../shared/log/records.ts";
import type { LogWriter } from "../../../../shared/log/writer.ts";
import { CriteriaOfCommit } from "./criteria.ts";

export type Appended = Exclude<LogRecord, { kind: "commit" }>;
type Sink = Pick<LogWriter, "append" | "commit" | "sync">;

/** Where nothing is kept. */
export const nowhere: Sink = { append: () => undefined, commit: () => undefined, sync: () => undefined };

export class Recorder {
  /** Last committed step; −1 before the first. */
  step = -1;
  private readonly criteria = new CriteriaOfCommit();

  constructor(
    private readonly sink: Sink,
    private readonly listen: (record: Appended) => void = () => undefined,
  ) {}

  append(record: Appended): void {
    const records = record.kind === "rollout" ? this.criteria.records(record) : [record];
    for (const one of records) this.sink.append(one);
    this.listen(record);
  }

  metrics(step: number, values: Readonly<Record<string, number>>): void {
    const wire = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toWire(value)]));
    this.append({ kind: "metrics", step, time: Date.now(), values: wire });
  }

  event(
    severity: EventRecord["severity"],
    name: string,
    message: string,
    more: { readonly action?: string | undefined; readonly data?: JsonObject; readonly step?: number } = {},
  ): void {
    const { action, data, step } = more;
    this.append({
      kind: "event",
      step: step ?? this.step,
      time: Date.now(),
      severity,
      name,
      message,
      ...(action === undefined ? {} : { action }),
      ...(data === undefined ? {} : { data }),
    });
  }

  acknowledge(id: string, accepted: boolean, message: string): void {
    this.append({ kind: "acknowledge", step: this.step, id, accepted, message });
  }

  commit(step: number = this.step): void {
    this.sink.commit(step);
    this.criteria.clear();
    this.step = step;
  }

  sync(): void {
    this.sink.sync();
  }
}
