/** `gradus runs export`: a run in formats that other programs read. */
import { once } from "node:events";
import { open, type FileHandle } from "node:fs/promises";
import { ask, type Requester } from "../../../../shared/daemon/request.ts";
import { UserError, messageOf } from "../../../../shared/lib/errors.ts";
import {
  evaluationsQuery,
  eventsQuery,
  metricsNames,
  metricsSeries,
  rolloutsQuery,
  runsShow,
  type EventRow,
  type RunSummary,
} from "../../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { pastCurriculumOf } from "../../../methods/curriculum/pastCurriculum.ts";
import { isParquet } from "../../../lib/parquet.ts";
import { writeParquet } from "../../../lib/datasets/parquetWriter.ts";
import { historyOf } from "../../../analysis/history/ofRollouts.ts";
import { UnreadSteps } from "../../text/unreadSteps.ts";
import { readFindings } from "../html/findings.ts";
import { reportPage } from "../html/page.ts";
import { readReport, reportText } from "../reportRun.ts";
import { writeRollouts } from "../rolloutsTable.ts";
import { verdictOf } from "../verdict.ts";

export interface ExportOptions {
  readonly to?: string;
  readonly out?: string;
  /** An earlier name of `to`: `rollouts` is `jsonl`. */
  readonly format?: string;
  /** An earlier name of `out`. */
  readonly output?: string;
  readonly json?: boolean;
  /** As `to: html`. */
  readonly html?: boolean;
  /** Of a run in one file. */
  readonly checkpoints?: boolean;
}
export const recordFormats = ["jsonl", "history", "curriculum", "csv", "json", "report", "html"] as const;

/** Steps, and rollouts, asked for at once. */
const pageOfSteps = 5_000;
const pageOfRollouts = 256;

type Emit = (text: string) => Promise<void>;

/**
 * `jsonl`: one rollout a line, tokens included. `history`: one group a line, for `gradus curriculum --history`. `curriculum`: the run in one line, for `sampler: again`. `csv`: a row a step, a column a metric. `json`: one value with all but
 * rollouts. `report`: a page to read, `html` with charts. An `out` that ends in `.parquet` has the rows of the first, the second or `csv`.
 */
export async function exportRun(
  connection: Requester,
  run: RunSummary,
  { to, out, format, output = out, json, html }: ExportOptions,
): Promise<void> {
  const form = html === true ? "html" : format === "rollouts" ? "jsonl" : (format ?? to ?? "jsonl");
  if (output !== undefined && isParquet(output)) return exportParquet(connection, run.id, form, output);
  const chosen = json === true && form === "jsonl" ? "json" : form;
  const write = {
    jsonl: exportRollouts,
    history: exportHistory,
    curriculum: exportCurriculum,
    csv: exportCsv,
    json: exportJson,
    report: exportReport,
    html: exportPage,
  }[chosen];
  if (write === undefined)
    throw new UserError(`There is no export format ${form}.`, {
      action: `Choose ${recordFormats.join(", ")}, or hf, gguf or peft for a model.`,
    });
  if (output !== undefined) return toFile(output, (emit) => write(connection, run.id, emit));
  await write(connection, run.id, async (text) => {
    if (!process.stdout.write(text)) await once(process.stdout, "drain");
  });
}

/** The forms that are rows. */
function exportParquet(connection: Requester, run: string, form: string, output: string): Promise<void> {
  if (form === "jsonl") return writeRollouts(output, () => rollouts(connection, run));
  if (form === "history") return writeRollouts(output, () => histories(connection, run));
  if (form === "csv")
    return writeParquet(
      output,
      () => metricRows(connection, run),
      (name) => name !== "step",
    );
  throw new UserError(`A Parquet file holds rows, and the export \`${form}\` is none.`, {
    file: output,
    code: "usage",
    action: "Choose jsonl, history or csv, or another name for the file.",
  });
}

/** The file is opened with the first text: an export that fails before leaves it as it was. */
async function toFile(output: string, act: (emit: Emit) => Promise<void>): Promise<void> {
  let file: FileHandle | undefined;
  const opened = async (): Promise<FileHandle> =>
    (file ??= await open(output, "w").catch((error: unknown) => {
      throw notWritten(output, error);
    }));
  try {
    await act(async (text) => {
      const to = await opened();
      await to.appendFile(text).catch((error: unknown) => {
        throw notWritten(output, error);
      });
    });
    await opened();
  } finally {
    await file?.close();
  }
}

const notWritten = (file: string, error: unknown): UserError =>
  new UserError(`the export cannot be written: ${messageOf(error)}`, {
    file,
    code: "write",
    cause: error,
    action: "Name a file in a folder that exists and that you may write to.",
  });

/** All of a run's rollouts, by step. */
export async function* rollouts(connection: Requester, run: string): AsyncGenerator<RolloutRow> {
  let after: string | undefined;
  const unread = new UnreadSteps();
  do {
    const page = await ask(connection, rolloutsQuery, {
      run,
      tokens: true,
      limit: pageOfRollouts,
      ...(after === undefined ? {} : { after }),
    });
    unread.complain(page.unread);
    yield* page.rollouts;
    after = page.next ?? undefined;
  } while (after !== undefined);
}

async function exportRollouts(connection: Requester, run: string, emit: Emit): Promise<void> {
  for await (const row of rollouts(connection, run)) await emit(`${JSON.stringify(row)}\n`);
}

async function exportHistory(connection: Requester, run: string, emit: Emit): Promise<void> {
  for await (const line of histories(connection, run)) await emit(`${JSON.stringify(line)}\n`);
}

async function* histories(
  connection: Requester,
  run: string,
): AsyncGenerator<ReturnType<typeof historyOf>[number]> {
  let rows: RolloutRow[] = [];
  for await (const row of rollouts(connection, run)) {
    if (rows.length > 0 && rows[0]!.step !== row.step) {
      yield* historyOf(rows);
      rows = [];
    }
    rows.push(row);
  }
  yield* historyOf(rows);
}

/** Events that hold: those of steps that no later attempt has trained again. */
async function standingEvents(connection: Requester, run: string): Promise<EventRow[]> {
  const { attempts } = await ask(connection, runsShow, { run });
  const { events } = await ask(connection, eventsQuery, { run, limit: 1_000_000 });
  return events.filter(({ attempt: own, step }) =>
    attempts.every(({ attempt, resumedAt }) => attempt <= own || resumedAt === null || step < resumedAt),
  );
}

async function exportCurriculum(connection: Requester, run: string, emit: Emit): Promise<void> {
  const past = pastCurriculumOf(run, await standingEvents(connection, run));
  if (past.mixtures.length === 0)
    throw new UserError(`The run ${run} has not recorded a curriculum that another run can follow.`, {
      code: "no-curriculum",
      action:
        "Train it with `curriculum.sampler: gmm` or `again` over `arms: parameters`, for at least `fit_every` groups.",
    });
  await emit(`${JSON.stringify(past)}\n`);
}

/** Every point of every metric: page by page, so that none is reduced away. */
async function* steps(
  connection: Requester,
  run: string,
  names: readonly string[],
): AsyncGenerator<readonly [number, ReadonlyMap<string, number | null>]> {
  const { step: last } = await ask(connection, runsShow, { run });
  for (let from = -1; names.length > 0 && from < last; from += pageOfSteps) {
    const { series } = await ask(connection, metricsSeries, {
      run,
      metrics: [...names],
      from,
      to: from + pageOfSteps,
      maxPoints: pageOfSteps,
    });
    const rows = new Map<number, Map<string, number | null>>();
    for (const { metric, steps: at, values } of series) {
      at.forEach((step, index) => {
        const row = rows.get(step) ?? new Map<string, number | null>();
        rows.set(step, row.set(metric, values[index] ?? null));
      });
    }
    yield* [...rows].sort(([a], [b]) => a - b);
  }
}

async function exportCsv(connection: Requester, run: string, emit: Emit): Promise<void> {
  const { names } = await ask(connection, metricsNames, { run });
  await emit(`${["step", ...names].map(quoted).join(",")}\n`);
  for await (const [step, values] of steps(connection, run, names))
    await emit(`${[step, ...names.map((name) => values.get(name) ?? "")].join(",")}\n`);
}

async function* metricRows(
  connection: Requester,
  run: string,
): AsyncGenerator<Readonly<Record<string, number | null>>> {
  const { names } = await ask(connection, metricsNames, { run });
  for await (const [step, values] of steps(connection, run, names))
    yield { step, ...Object.fromEntries(names.map((name) => [name, values.get(name) ?? null])) };
}

const quoted = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

async function exportReport(connection: Requester, run: string, emit: Emit): Promise<void> {
  await emit(reportText(await readReport(connection, run)));
}

async function exportPage(connection: Requester, run: string, emit: Emit): Promise<void> {
  const [report, verdict] = [await readReport(connection, run), await verdictOf(connection, run)];
  await emit(reportPage(report, verdict, await readFindings(connection, run)));
}

async function exportJson(connection: Requester, run: string, emit: Emit): Promise<void> {
  const detail = await ask(connection, runsShow, { run });
  const { events } = await ask(connection, eventsQuery, { run, limit: 1_000_000 });
  const { evaluations } = await ask(connection, evaluationsQuery, { run });
  const { names } = await ask(connection, metricsNames, { run });
  const metrics: { step: number; metrics: Readonly<Record<string, number | null>> }[] = [];
  for await (const [step, values] of steps(connection, run, names))
    metrics.push({ step, metrics: Object.fromEntries(values) });
  await emit(`${JSON.stringify({ run: detail, metrics, evaluations, events })}\n`);
}
