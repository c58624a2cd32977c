/** A real run of a config, its history, and what a replay of that history says, compared with what the run has logged. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../server/rules/load.ts";
import type { RunConfig } from "../../server/core/config/runConfig.ts";
import { partOf } from "../../server/core/saved.ts";
import { Curricula } from "../../server/analysis/history/curricula.ts";
import { historyOf } from "../../server/analysis/history/ofRollouts.ts";
import { readHistory, type HistoryGroup } from "../../server/analysis/history/read.ts";
import { replay } from "../../server/analysis/history/replay.ts";
import type { ReplayedStep } from "../../server/analysis/history/standing.ts";
import { checkpointFolder, checkpointSteps, readState } from "../../server/run/checkpoint/checkpoint.ts";
import type { Saved } from "../../server/core/basics.ts";
import type { LogRecord } from "../../shared/log/records.ts";
import { ofKind, testRun } from "./runFolder.ts";

export const tinyRun = `model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 96 }
rollout: { prompts: 3, group: 4, max_tokens: 3 }
reward: { terms: { right: { use: format, pattern: "[a-m].*" } } }
evaluation: { every: 1000, prompts: 1, pass_at: [1], record: 0 }
`;
export const twoLengths = "tasks: [{ env: reverse_text, lengths: [2, 3] }]\n";

export interface Replayed {
  readonly config: RunConfig;
  readonly records: readonly LogRecord[];
  readonly history: readonly HistoryGroup[];
  readonly steps: readonly ReplayedStep[];
  readonly curricula: Curricula;
  /** State of the run's curricula at its end. */
  readonly states: readonly Saved[];
}

/** The history of a log as `gradus runs export --to history` writes it. */
export async function historyOfLog(folder: string, records: readonly LogRecord[]): Promise<HistoryGroup[]> {
  const rows = ofKind(records, "rollout").map(({ row, columns }) => ({
    ...row,
    tokens: [...(columns["tokens"] ?? [])],
  }));
  const steps = [...new Set(rows.map(({ step }) => step))];
  const lines = steps.flatMap((step) => historyOf(rows.filter((row) => row.step === step)));
  const file = join(folder, "history.jsonl");
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return readHistory(file);
}

/** @param files by name, next to the config */
export async function replayedRun(
  text: string,
  set: readonly string[] = [],
  files: Readonly<Record<string, string>> = {},
): Promise<Replayed> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-replayed-"));
  const file = join(folder, "a.gradus.yaml");
  writeFileSync(file, text);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const run = testRun(set, file);
  try {
    assert.equal(await run.work(), 0, run.ending());
    const records = run.records();
    const history = await historyOfLog(folder, records);
    const { config, diagnostics } = loadConfig(file, { set: [...set] });
    assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
    const curricula = new Curricula(history, config.seed);
    const steps = [...replay(config, history, undefined, curricula)];
    const { parts } = readState(checkpointFolder(run.folder, checkpointSteps(run.folder).at(-1)!));
    const states = Object.entries(parts).flatMap(([name, saved]) =>
      name.startsWith("curriculum/") ? [saved] : [],
    );
    return { config, records, history, steps, curricula, states };
  } finally {
    run.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A column is longer than it has been written to: what follows is as it was made. */
function written(values: ArrayLike<number>): number[] {
  const list = Array.from(values);
  const last = list.findLastIndex((value) => value !== 0 && !Number.isNaN(value));
  return list.slice(0, last + 1);
}
const asText = ({ json, arrays }: Saved): string =>
  JSON.stringify([json, Object.entries(arrays ?? {}).map(([name, values]) => [name, written(values)])]);

/** Everything that the curriculum believes: its parts' state, but for where sources stand. */
const believed = (saved: Saved): string =>
  ["seen", "signal", "estimator", "sampler", "admission", "budget"]
    .map((part) => `${part} ${asText(partOf(saved, part))}`)
    .join("\n");

const logged = (values: Readonly<Record<string, unknown>>, family: string): number =>
  Number(values[`curriculum/${family}/estimate`] ?? Number.NaN);

/** After every step the estimates are those that the run has logged, and at the end all state is the run's own. */
export function assertReplays({ config, records, steps, curricula, states }: Replayed): void {
  const metrics = new Map(ofKind(records, "metrics").map(({ step, values }) => [step, values]));
  assert.ok(steps.length > 0, "there are steps");
  for (const { step, estimates } of steps) {
    const groups = ofKind(records, "group").filter((one) => one.step === step);
    for (const family of new Set(groups.map(({ family, arm }) => family ?? arm))) {
      const own = groups.filter((one) => (one.family ?? one.arm) === family);
      const arms = estimates[family] === undefined ? own.map(({ arm }) => arm) : [family];
      const found = arms.map((arm) => estimates[arm] ?? Number.NaN).map(Number);
      const mean = found.reduce((sum, one) => sum + one, 0) / found.length;
      const told = logged(metrics.get(step) ?? {}, family);
      // Of points of a box a run logs no estimate: their state is compared below.
      if (Number.isNaN(told)) continue;
      assert.ok(Math.abs(mean - told) <= 1e-12, `step ${step}, ${family}: ${mean} here, ${told} in the run`);
    }
  }
  const mine = config.stages
    .filter(({ kind }) => kind === "rl" || kind === "preference")
    .map((stage) => believed(curricula.of(stage).save()));
  for (const state of states) assert.ok(mine.includes(believed(state)), difference(believed(state), mine));
}

/** What differs of the nearest. */
function difference(run: string, mine: readonly string[]): string {
  const lines = run.split("\n");
  const [other = []] = mine
    .map((one) => one.split("\n"))
    .sort((a, b) => apart(a, lines).length - apart(b, lines).length);
  return `the run has\n${apart(lines, other).join("\n")}\nand the replay\n${apart(other, lines).join("\n")}`.slice(
    0,
    3000,
  );
}
const apart = (some: readonly string[], others: readonly string[]): string[] =>
  some.filter((line, i) => line !== others[i]);
