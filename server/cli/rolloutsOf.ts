/** The rollouts that `--rollouts` names: a file of them, or a run of the store. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ask, type Requester } from "../../shared/daemon/request.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { rolloutsQuery, runsList, type RunSummary } from "../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../shared/rollouts/rollouts.ts";
import { readRollouts, type RecordedRow } from "../analysis/recorded.ts";
import { wholeRewards } from "../analysis/imported/wholeRewards.ts";
import type { RunConfig } from "../core/config/runConfig.ts";
import { writerNames } from "../../shared/run/origin.ts";
import { dumpOf } from "../store/imported/findOutput.ts";
import { hookRollouts } from "./hook/hookRollouts.ts";
import { pathText } from "./text/diagnostics.ts";
import { findRun, storeOf, withDaemon } from "./runs/store.ts";
import { UnreadSteps } from "./text/unreadSteps.ts";

export interface RolloutsOptions {
  readonly store?: string | undefined;
  /** Of a run: this step alone. */
  readonly step?: number | undefined;
  /** Of a run without `step`: its last step with rollouts that train. */
  readonly last?: boolean;
}

const page = 1024;

type StepRange = { readonly step: number } | { readonly from: number; readonly to: number };

/**
 * @param words a file, or a run: its id, a beginning of it, its name, or `last`: the config's last run with rollouts, else
 * that of any
 * @param use receives the rows of a file at once, those of a run step by step
 */
export async function withRollouts(
  words: string,
  config: RunConfig,
  options: RolloutsOptions,
  use: (rows: readonly RecordedRow[]) => void | Promise<void>,
): Promise<void> {
  // A path with a separator or an ending is meant as one, whether it is there or not.
  if (existsSync(words) || /[./\\]/.test(words)) {
    refuseDump(words, config);
    const hooked = hookRollouts(words, config);
    if (hooked !== undefined) return useSteps(hooked, words, options, use);
    return use(await readRollouts(words));
  }
  return withDaemon(options.store ?? storeNear(config.file), async (connection) => {
    const runs = words === "last" ? await lastRuns(connection, config) : [await findRun(connection, words)];
    for (const run of runs) {
      let found = false;
      for await (const rows of stepsOf(connection, run, options)) {
        const given = run.origin === undefined ? rows : wholeRewards(config, rows);
        // A complaint about a row names the step, and the row's place in it.
        await use(given.map((row, line) => ({ row, place: { file: `${run.id}, step ${row.step}`, line } })));
        found = true;
      }
      if (found) return;
      // A step that is named is one of the last run.
      if (options.step !== undefined) break;
    }
    const [{ id } = { id: words }] = runs;
    const step = options.step === undefined ? "" : ` in step ${options.step}`;
    throw new UserError(`The run ${id} has no rollouts${step}.`, {
      code: "rollouts-empty",
      action: `List what it has: gradus rollouts ${id}.`,
    });
  });
}

/** One after the other; of `last`, the last with rollouts that train. */
async function useSteps(
  steps: Iterable<readonly RecordedRow[]>,
  file: string,
  { step, last }: RolloutsOptions,
  use: (rows: readonly RecordedRow[]) => void | Promise<void>,
): Promise<void> {
  let kept: readonly RecordedRow[] = [];
  let found = false;
  for (const rows of steps) {
    if (step !== undefined && rows[0]?.row.step !== step) continue;
    found = true;
    if (last !== true || step !== undefined) await use(rows);
    else if (rows.some(({ row }) => row.use !== "evaluate")) kept = rows;
  }
  if (last === true && kept.length > 0) return use(kept);
  if (found) return;
  throw new UserError(`there is no rollout${step === undefined ? "" : ` of step ${step}`} in it yet`, {
    file,
    code: "rollouts-empty",
    action: "Try again when the training has made a step.",
  });
}

/** The one run that is meant; of `last` the config's last one, else that of any. */
export async function runNamed(connection: Requester, words: string, config: RunConfig): Promise<RunSummary> {
  const [last] = words === "last" ? await lastRuns(connection, config) : [];
  return last ?? findRun(connection, words);
}

/** Those that may be meant by `last`: runs of the config that have made a step, then others; the last of each first. */
async function lastRuns(connection: Requester, { file }: RunConfig): Promise<readonly RunSummary[]> {
  const { runs } = await ask(connection, runsList, { limit: 100_000 });
  const begun = runs.filter(({ step, origin }) => step >= 0 || origin !== undefined);
  if (begun.length === 0) return [await findRun(connection, "last")];
  const own = (run: RunSummary): boolean => resolve(run.file) === resolve(file);
  return [...begun.filter(own), ...begun.filter((run) => !own(run))];
}

/** The store of the config's folder, where the current one has none. */
export const storeNear = (file: string): string | undefined =>
  existsSync(storeOf(undefined)) || !existsSync(storeOf(undefined, file))
    ? undefined
    : storeOf(undefined, file);

/** What another trainer wrote becomes a run first: its rows have neither groups nor names of terms. */
function refuseDump(words: string, { file }: RunConfig): void {
  const dump = existsSync(words) ? dumpOf(words) : undefined;
  if (dump === undefined) return;
  throw new UserError(`this is a dump of ${writerNames[dump.trainer]}`, {
    file: words,
    code: "rollouts-dump",
    action: `\`gradus runs import ${pathText(dump.folder)} --config ${pathText(file)}\` makes a run of it, which \`--rollouts last\` names.`,
  });
}

/** All at once. */
export async function rolloutsOf(
  words: string,
  config: RunConfig,
  options: RolloutsOptions,
): Promise<RecordedRow[]> {
  const all: RecordedRow[] = [];
  await withRollouts(words, config, options, (rows) => {
    for (const row of rows) all.push(row);
  });
  return all;
}

/** The rollouts of each step that has some. */
async function* stepsOf(
  connection: Requester,
  { id, step: last }: RunSummary,
  options: RolloutsOptions,
): AsyncGenerator<readonly RolloutRow[]> {
  if (options.step !== undefined) {
    const rows = await rowsOf(connection, id, { step: options.step });
    if (rows.length > 0) yield rows;
    return;
  }
  if (options.last !== true) {
    // As a part of the run: a step whose file has changed is named, and the others are read.
    for (let step = 0; step <= last; step++) {
      const rows = await rowsOf(connection, id, { from: step, to: step });
      if (rows.length > 0) yield rows;
    }
    return;
  }
  // The steps after the last rollouts may have metrics alone.
  for (let step = last; step >= 0; step--) {
    const rows = await rowsOf(connection, id, { step });
    if (rows.some(({ use = "train" }) => use === "train")) {
      yield rows;
      return;
    }
  }
}

async function rowsOf(connection: Requester, run: string, part: StepRange): Promise<RolloutRow[]> {
  const rows: RolloutRow[] = [];
  const unread = new UnreadSteps();
  let after: string | undefined;
  do {
    const answer = await ask(connection, rolloutsQuery, {
      run,
      ...part,
      tokens: true,
      limit: page,
      ...(after === undefined ? {} : { after }),
    });
    unread.complain(answer.unread);
    for (const row of answer.rollouts) rows.push(row);
    after = answer.next ?? undefined;
  } while (after !== undefined);
  return rows;
}
