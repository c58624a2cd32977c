/** Run folders made by hand, as the daemon makes them, and what their logs say. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { logStart, readCommitted } from "../../shared/log/reader.ts";
import type { LogRecord } from "../../shared/log/records.ts";
import { work } from "../../server/run/loop/worker.ts";

export const minimal = resolve("examples/minimal/minimal.gradus.yaml");

export interface TestRun {
  readonly folder: string;
  /** Runs an attempt in this process. */
  work(attempt?: number): Promise<number>;
  /** What the attempt's end record says. */
  ending(attempt?: number): string;
  records(attempt?: number): LogRecord[];
  remove(): void;
}

/** Operations this small take longer on two threads than on one. */
const oneThread = "engine.threads=1";
/** What most tests do without: a second layer and more held-out tasks take as long again and show nothing else. */
const small = ["model.layers=1", "evaluation.prompts=8"];

export function testRun(set: readonly string[] = [], file = minimal, id = "test"): TestRun {
  const folder = mkdtempSync(join(tmpdir(), "gradus-run-"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "run.json"),
    JSON.stringify({
      id,
      file,
      name: "test",
      set: [oneThread, ...(file === minimal ? small : []), ...set],
      createdAt: "2026-01-01T00:00:00Z",
    }),
  );
  return {
    folder,
    work: (attempt = 0) => work({ folder, attempt, version: "0.0.0" }),
    ending: (attempt = 0) =>
      ofKind(readLog(folder, attempt), "end")
        .map(({ message }) => message)
        .join(),
    records: (attempt = 0) => readLog(folder, attempt),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export function readLog(folder: string, attempt: number): LogRecord[] {
  const records: LogRecord[] = [];
  for (let position = logStart; ;) {
    const read = readCommitted(folder, attempt, position, 1 << 24);
    if (read.problems.length > 0) throw new Error(read.problems.map((problem) => problem.message).join("; "));
    records.push(...read.steps.flatMap((step) => step.records));
    position = read.position;
    if (!read.more) return records;
  }
}

export const ofKind = <Kind extends LogRecord["kind"]>(
  records: readonly LogRecord[],
  kind: Kind,
): Extract<LogRecord, { kind: Kind }>[] =>
  records.filter((record): record is Extract<LogRecord, { kind: Kind }> => record.kind === kind);

/** What must be equal in a step done twice: metrics without clocks and memory, groups, rollouts with every column. */
export function essence(records: readonly LogRecord[], from: number): unknown[] {
  return records.flatMap((record): unknown[] => {
    if (!("step" in record) || record.step < from) return [];
    if (record.kind === "metrics")
      return [
        [
          record.step,
          Object.entries(record.values).filter(
            ([name]) => !name.startsWith("time/") && !name.startsWith("memory/") && name !== "episode/waited",
          ),
        ],
      ];
    if (record.kind === "rollout")
      return [[record.row, Object.entries(record.columns).map(([name, column]) => [name, [...column]])]];
    return record.kind === "group" || record.kind === "evaluation" ? [{ ...record, time: 0 }] : [];
  });
}
