/** `gradus runs check`: reads every byte of a store, or of some of its runs, and says what is damaged. */
import { existsSync } from "node:fs";
import type { Command as Program } from "commander";
import { UserError } from "../../../../shared/lib/errors.ts";
import { formatBytes, plural } from "../../../../shared/lib/format.ts";
import { checkTables } from "../../../store/check/checkTables.ts";
import type { Finding } from "../../../store/check/findings.ts";
import { readRunFile, runFolder, runIds } from "../../../store/files.ts";
import { loadReaders } from "../../../store/imported/readers.ts";
import { exit, print, printJson } from "../../command.ts";
import { storeOf } from "../store.ts";
import { checkRun, type CheckedRun } from "./checkRun.ts";

interface CheckOptions {
  readonly store?: string;
  readonly json?: boolean;
}

export function checkCommand(program: Program): void {
  program
    .command("check")
    .description(
      "read every byte of a store, or of some runs: records of logs, rollouts, checkpoints, tables; say what is damaged, where, and what to do",
    )
    .argument("[runs...]", "ids, beginnings of ids, names, or `last`; default: all runs of the store")
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action(check);
}

async function check(words: readonly string[], options: CheckOptions): Promise<void> {
  const store = storeOf(options.store);
  if (!existsSync(store))
    throw new UserError(`There is no store at ${store}.`, {
      file: store,
      code: "no-store",
      action: "Change to a folder with a store, or name it: --store FOLDER.",
    });
  await loadReaders();
  const ids = runIds(store);
  const wanted = words.length === 0 ? ids : words.map((word) => meant(store, ids, word));
  const runs = wanted.map((run) => checkRun(run, runFolder(store, run)));
  const tables = checkTables(store, new Map(runs.map(({ run, log }) => [run, log])));
  const findings = [...runs.flatMap((one) => one.findings), ...tables];
  const isDamaged = findings.some(({ severity }) => severity === "error");
  if (options.json === true)
    printJson({
      ok: !isDamaged,
      runs: runs.map(({ run, live, log, checkpoints, findings: own }) => ({
        ...{ run, live, steps: log.steps, bytes: log.bytes, checkpoints, findings: own },
      })),
      tables,
    });
  else {
    for (const one of runs) print(line(one));
    for (const one of findings) print(text(one));
    print(
      findings.length === 0
        ? `${plural(runs.length, "run")} and the tables are whole.`
        : `${plural(findings.length, "finding")} in ${plural(runs.length, "run")} and the tables.`,
    );
  }
  if (isDamaged) process.exitCode = exit.failed;
}

/** The latest of those that fit. @throws UserError where none does */
function meant(store: string, ids: readonly string[], word: string): string {
  const byTime = ids
    .map((id) => ({ id, file: readRunFile(runFolder(store, id)) }))
    .sort((one, other) => (one.file?.createdAt ?? "").localeCompare(other.file?.createdAt ?? ""));
  const found =
    byTime.find(({ id }) => id === word) ??
    (word === "last" ? byTime.at(-1) : undefined) ??
    byTime.findLast(({ file }) => file?.name === word) ??
    byTime.findLast(({ id }) => id.startsWith(word));
  if (found !== undefined) return found.id;
  throw new UserError(`There is no run ${word} in this store.`, {
    code: "unknownRun",
    action: "List the runs: gradus runs list.",
  });
}

function line({ run, live, log, checkpoints, findings }: CheckedRun): string {
  const unsummed = checkpoints.filter(({ state }) => state === "no checksums").length;
  return [
    `${run}: ${plural(log.steps, "committed step")} in ${formatBytes(log.bytes)} of log`,
    `${plural(checkpoints.length, "checkpoint")}${unsummed === 0 ? "" : ` (${unsummed} of an earlier version, without checksums)`}`,
    ...(live ? ["live"] : []),
    findings.some(({ severity }) => severity === "error") ? "damaged" : "whole",
  ].join(" · ");
}

const text = ({ severity, file, offset, message, action }: Finding): string =>
  `${severity}: ${file}${offset === undefined ? "" : `, byte ${offset}`}: ${message}\n  ${action}`;
