/** What an import says of the data that its rewards need: whether the rollouts are found in the config's data, and what lacks. */
import { resolve } from "node:path";
import { signatureOf } from "../../config/check/signatures/index.ts";
import { takenParameters } from "../../config/check/signatures/python.ts";
import { dataFound, dataSize, withData, type DataFound } from "../../analysis/imported/withData.ts";
import { recordOf } from "../../analysis/recorded.ts";
import { truths } from "../../methods/reward/own/python/bind.ts";
import { givenNames } from "../../methods/reward/own/python/convention.ts";
import type { RewardTermConfig } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { RolloutRecord } from "../../core/rollouts.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";

export interface DataNotes {
  /** Of the newest step's rollouts; null: nothing was looked through. */
  readonly data: (DataFound & { readonly step: number }) | null;
  /** Parameters of rewards that neither the dump nor the data has. */
  readonly needs: readonly { readonly term: string; readonly field: string }[];
  /** Whether rollouts have a reference answer. */
  readonly answers: boolean;
}

/** Larger data are looked through when a step is scored again: an import does not wait for them. */
const mostBytes = 4 * 1024 * 1024;

/** @param rows of the newest step */
export function dataNotes(rows: readonly RolloutRow[], config: RunConfig | undefined): DataNotes {
  const tasks = config?.top.tasks ?? [];
  const records = rows.map((row) => recordOf(row, tasks));
  const data = dataFound(records, tasks, mostBytes);
  const whole = data === undefined ? records : withData(records, tasks);
  const answers = whole.some(({ task }) => task.answer !== undefined);
  if (config === undefined || (data === undefined && dataSize(tasks) > 0))
    return { data: null, needs: [], answers };
  const needs = config.top.reward.terms.flatMap((term) =>
    needed(term, whole).map((field) => ({ term: term.name, field })),
  );
  return { data: data === undefined ? null : { ...data, step: rows[0]?.step ?? 0 }, needs, answers };
}

/** Columns that one of TRL's functions takes, and that no rollout has. */
function needed({ term }: RewardTermConfig, records: readonly RolloutRecord[]): string[] {
  const { file, export: name, args } = term.params;
  if (term.declaration.name !== "python" || typeof file !== "string" || typeof name !== "string") return [];
  const signature = signatureOf(resolve(term.folder, file), name);
  if (signature?.recognised?.kind !== "convention" || signature.recognised.convention.name !== "trl")
    return [];
  const given = new Set([...givenNames(signature.recognised.convention), ...Object.keys(args ?? {})]);
  const lacks = (field: string): boolean =>
    records.every(
      ({ task: { data, answer } }) =>
        data[field] === undefined && (answer === undefined || !truths.has(field)),
    );
  return takenParameters(signature.parameters)
    .filter(({ name: field, kind, optional }) => !optional && !kind.startsWith("var_") && !given.has(field))
    .map(({ name: field }) => field)
    .filter(lacks);
}
