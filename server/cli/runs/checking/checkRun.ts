/** Every byte of a run's folder: log, rollouts, checkpoints and the policies that were kept. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { UserError, messageOf } from "../../../../shared/lib/errors.ts";
import { readBest } from "../../../../shared/run/bestCheckpoint.ts";
import { workerIsAlive } from "../../../../shared/run/lease.ts";
import { checkpointFolder, checkpointSteps, readState } from "../../../run/checkpoint/checkpoint.ts";
import { damageIn, sumsFile } from "../../../run/checkpoint/sums.ts";
import { checkLog, type CheckedLog } from "../../../store/check/checkLog.ts";
import type { Finding } from "../../../store/check/findings.ts";

export interface CheckedRun {
  readonly run: string;
  readonly live: boolean;
  readonly log: CheckedLog;
  /** By step. */
  readonly checkpoints: readonly {
    readonly step: number;
    readonly state: "whole" | "damaged" | "no checksums";
  }[];
  readonly findings: readonly Finding[];
}

export function checkRun(run: string, folder: string): CheckedRun {
  const live = workerIsAlive(folder);
  const log = checkLog(folder, live);
  const found = checkpointSteps(folder).map((step) => checkpoint(folder, step));
  const findings = [
    ...log.findings,
    ...found.flatMap(({ finding }) => finding ?? []),
    ...kept(folder),
    ...best(folder),
  ];
  return { run, live, log, checkpoints: found.map(({ step, state }) => ({ step, state })), findings };
}

function checkpoint(
  folder: string,
  step: number,
): CheckedRun["checkpoints"][number] & { readonly finding?: Finding } {
  const path = checkpointFolder(folder, step);
  try {
    readState(path);
    return { step, state: existsSync(join(path, sumsFile)) ? "whole" : "no checksums" };
  } catch (error) {
    // The worker of a live run clears old ones.
    if (!existsSync(path)) return { step, state: "whole" };
    const file = error instanceof UserError ? (error.detail.file ?? path) : path;
    const action = `Move ${path} away. A resumed run continues from the newest checkpoint that is left.`;
    return {
      step,
      state: "damaged",
      finding: { severity: "error", file, message: messageOf(error), action },
    };
  }
}

/** Policies that an evaluation kept, next to the run's models. */
function kept(folder: string): Finding[] {
  const models = join(folder, "models");
  if (!existsSync(models)) return [];
  return readdirSync(models).flatMap((name): Finding[] => {
    const damage = damageIn(join(models, name));
    return damage === undefined
      ? []
      : [
          {
            severity: "error",
            file: damage.file,
            message: `${damage.file} is missing or damaged: ${damage.how}`,
            action: "Restore it from a copy: a resumed run may go back to this policy.",
          },
        ];
  });
}

function best(folder: string): Finding[] {
  try {
    readBest(folder);
    return [];
  } catch (error) {
    const { file = folder, action = "" } = error instanceof UserError ? error.detail : {};
    return [{ severity: "error", file, message: messageOf(error), action }];
  }
}
