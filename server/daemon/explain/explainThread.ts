/** The thread that explains one recorded rollout: loading a config and counting coalitions would hold up the daemon. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { dirname } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Why } from "../../../shared/rollouts/why.ts";
import { why, type WhichRollout } from "../../analysis/explain/why.ts";
import { readRunFile } from "../../run/loop/files.ts";
import { loadWith, readSettings } from "../../run/loop/settings.ts";

export interface ExplainTask {
  /** Folder of the run. */
  readonly folder: string;
  /** The run's config as its author wrote it. */
  readonly authored: string;
  readonly rows: readonly RolloutRow[];
  readonly which: WhichRollout & { readonly step: number };
}
export type ExplainAnswer =
  | { readonly why: Why }
  | { readonly error: string; readonly detail: { readonly action?: string; readonly code?: string } | null };

/** By the config as it stood at the step: what was set later does not count. */
function explainRollout({ folder, authored, rows, which }: ExplainTask): Why {
  const run = readRunFile(folder);
  if (authored === "")
    throw new UserError(
      "The run was imported without its config, so nothing says how advantages were computed.",
      {
        file: run.file,
        code: "explain",
        action: "Import it again with --config FILE, or name a config: gradus explain FILE --rollouts RUN.",
      },
    );
  const settings = readSettings(folder).filter(({ step }) => step < which.step);
  const { config, diagnostics } = loadWith(run, authored, settings, true);
  if (config === undefined)
    throw new UserError(
      `The run's config can no longer be read: ${diagnostics[0]?.message ?? "it has errors."}`,
      {
        file: run.file,
        action: `Restore the files that it names (gradus validate ${copiedWord(run.file)} lists them), or explain exported rollouts with gradus explain.`,
      },
    );
  const place = dirname(run.file);
  return why(
    config,
    rows.map((row, line) => ({ row, place: { file: place, line } })),
    which,
  );
}

function answer(task: ExplainTask): ExplainAnswer {
  try {
    return { why: explainRollout(task) };
  } catch (error) {
    const { action, code } = error instanceof UserError ? error.detail : {};
    const detail = {
      ...(action === undefined ? {} : { action }),
      ...(code === undefined ? {} : { code }),
    };
    return { error: messageOf(error), detail: error instanceof UserError ? detail : null };
  }
}

if (parentPort !== null) parentPort.postMessage(answer(workerData as ExplainTask));
