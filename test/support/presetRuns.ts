/** Short runs of configs, each in a folder of its own, and where two of them differ. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../server/rules/load.ts";
import type { RunConfig } from "../../server/core/config/runConfig.ts";
import type { LogRecord } from "../../shared/log/records.ts";
import type { World } from "./presetWorlds.ts";
import { ofKind, testRun } from "./runFolder.ts";

export interface Seen {
  readonly status: "finished" | "failed" | "refused";
  readonly message: string;
  /** Rules of the diagnostics other than errors. */
  readonly findings: readonly string[];
  readonly trace: Trace;
  /** Tasks that it has made of others. */
  readonly made: number;
  /** Messages of its warnings. */
  readonly events: readonly string[];
}

/** What training did, without what is only reported of it. */
export interface Trace {
  readonly rollouts: readonly string[];
  readonly metrics: readonly Readonly<Record<string, unknown>>[];
  readonly evaluations: number;
}

const told = /^(time|memory|curriculum)\//;

export function traceOf(records: readonly LogRecord[]): Trace {
  const rollouts = ofKind(records, "rollout").map(({ step, row, columns }) =>
    JSON.stringify([
      step,
      row.use,
      row.admitted,
      row.reward,
      Object.entries(columns).map(([name, column]) => [name, [...column]]),
    ]),
  );
  const metrics = ofKind(records, "metrics").map(({ values }) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !told.test(name))),
  );
  return { rollouts, metrics, evaluations: ofKind(records, "evaluation").length };
}

/** Rounding alone is no difference. */
const alike = (a: unknown, b: unknown): boolean =>
  typeof a === "number" && typeof b === "number"
    ? Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b))
    : Object.is(a, b);

/** Where two runs first differ; undefined: nowhere in what both of them do. */
export function difference(a: Trace, b: Trace): string | undefined {
  if (a.metrics.length !== b.metrics.length) return `${a.metrics.length} and ${b.metrics.length} steps`;
  if (a.rollouts.length !== b.rollouts.length)
    return `${a.rollouts.length} and ${b.rollouts.length} rollouts`;
  for (const [i, values] of a.metrics.entries())
    for (const [name, value] of Object.entries(values)) {
      const other = b.metrics[i]![name];
      if (other !== undefined && !alike(value, other))
        return `${name} of step ${i}: ${String(value)} and ${String(other)}`;
    }
  const at = a.rollouts.findIndex((text, i) => text !== b.rollouts[i]);
  if (at >= 0) return `rollout ${at}`;
  return a.evaluations === b.evaluations ? undefined : `${a.evaluations} and ${b.evaluations} evaluations`;
}

/** @param url of a server, that takes the place of `URL` in what is set */
export async function seen(
  text: string,
  { set: own = [], both = [], files = {} }: World,
  url: string,
): Promise<Seen> {
  const set = [...both, ...own].map((one) => one.replaceAll("URL", JSON.stringify(url)));
  const folder = mkdtempSync(join(tmpdir(), "gradus-acts-"));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const file = join(folder, "a.gradus.yaml");
    writeFileSync(file, text);
    const { config, diagnostics } = loadConfig(file, { set: [...set] });
    const findings = diagnostics.map(({ rule }) => rule);
    const none: Trace = { rollouts: [], metrics: [], evaluations: 0 };
    if (config === undefined) {
      const message = diagnostics.map((one) => one.message).join("\n");
      return { status: "refused", message, findings, trace: none, made: 0, events: [] };
    }
    const run = testRun([...stageSteps(config), ...set], file);
    try {
      const done = await run.work();
      const message = run.ending();
      return {
        status: done === 0 ? "finished" : "failed",
        message,
        findings,
        trace: traceOf(run.records()),
        made: ofKind(run.records(), "task").length,
        events: ofKind(run.records(), "event").map(({ message }) => message),
      };
    } finally {
      run.remove();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const short = 3;

/** Every stage is short. */
const stageSteps = ({ stages }: RunConfig): string[] =>
  stages.length === 1
    ? [`steps=${short}`]
    : stages
        .filter(({ kind, part }) => kind !== "merge" && !part)
        .map(({ name, turns }) => `stages.${name}.steps=${turns.length > 0 ? 10 : short}`);
