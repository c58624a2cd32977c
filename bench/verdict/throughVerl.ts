/** A run of ours as verl would have left it, and read again from there: rollouts by its dump, metrics by its file logger. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { VerdictRecord } from "../../server/analysis/verdict/record.ts";
import { fromWire, type RolloutRow } from "../../shared/rollouts/rollouts.ts";
import { importWith } from "../verlDump.ts";
import { allRollouts, recorded } from "./recorded.ts";

interface Dumped {
  readonly folder: string;
  readonly store: string;
  readonly id: string;
  /** The run's folder. */
  readonly made: string;
  readonly file: string;
}

/** Names as verl's trainer logs them. */
const names = {
  "critic/score/mean": "reward/correct",
  "actor/entropy": "policy/entropy",
  "actor/grad_norm": "update/grad_norm",
  "actor/pg_loss": "update/loss",
  "response_length/mean": "rollout/length",
  "response_length/clip_ratio": "rollout/truncated",
} as const;

/** The folder of the imported run. */
export async function throughVerl({ folder, store, id, made, file }: Dumped): Promise<string> {
  const from = join(folder, `${id}-verl`);
  rmSync(from, { recursive: true, force: true });
  mkdirSync(join(from, "rollouts"), { recursive: true });
  for (const [step, rows] of byStep(allRollouts(made)))
    writeFileSync(join(from, "rollouts", `${step + 1}.jsonl`), rows.map(dumpLine).join(""));
  writeFileSync(join(from, "metrics.jsonl"), metricLines(recorded(made).record).join(""));
  const { run } = await importWith({ store, from }, { file, text: readFileSync(file, "utf8") });
  return join(store, "runs", run);
}

function byStep(rows: readonly RolloutRow[]): ReadonlyMap<number, readonly RolloutRow[]> {
  const steps = new Map<number, RolloutRow[]>();
  for (const row of rows) {
    if (row.use !== "train") continue;
    const own = steps.get(row.step);
    if (own === undefined) steps.set(row.step, [row]);
    else own.push(row);
  }
  return steps;
}

const dumpLine = ({ prompt, response, step, group, index, reward, task }: RolloutRow): string =>
  `${JSON.stringify({
    input: prompt,
    output: response,
    gts: task?.answer ?? "",
    score: fromWire(reward ?? 0),
    step: step + 1,
    uid: `${group}_${index}_0`,
  })}\n`;

function metricLines({ series, evaluations }: VerdictRecord): readonly string[] {
  const steps = series["update/loss"]?.steps ?? new Float64Array();
  return [...steps].map((step, at) => {
    const data: Record<string, number> = {};
    for (const [theirs, ours] of Object.entries(names)) {
      const value = series[ours]?.values[at];
      if (value !== undefined && Number.isFinite(value)) data[theirs] = value;
    }
    const held = evaluations.find((evaluation) => evaluation.step === step);
    if (held !== undefined) data["val-core/own/acc/mean@4"] = held.metrics["eval/pass@1"] ?? 0;
    return `${JSON.stringify({ step: step + 1, data })}\n`;
  });
}
