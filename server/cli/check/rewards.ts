/** What the reward of each configuration pays for its own reference answers, and for answers that should earn nothing. */
import { resolve } from "node:path";
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import { checkReward } from "../../analysis/rewardChecks/check.ts";
import { ownFile } from "../../analysis/rewardChecks/ownFiles.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { needs } from "../../config/needs.ts";
import { loadFile } from "../../frameworks/asConfig/load.ts";
import { whyUntried } from "../../frameworks/asConfig/untried.ts";
import { engineKeys } from "../../frameworks/export/engineKeys.ts";
import { recordedNear } from "../../store/recordedNear.ts";
import { pathText } from "../text/diagnostics.ts";
import type { Finding } from "../../../shared/editor/folderSum.ts";

interface Tried {
  readonly findings: readonly Finding[];
  readonly notes: readonly string[];
}

/** The config of a file whose reward is a function of the folder's; a note where it cannot be tried; else undefined. */
function ownReward(file: string, signal?: AbortSignal) {
  const loaded = loadFile(file, { needs: needs.tried, engineKeys });
  const { config, converted, diagnostics } = loaded;
  if (config === undefined) {
    const wrong = diagnostics.find(({ severity }) => severity === "error");
    return { note: `its reward was not tried: ${wrong?.message ?? "the file cannot be read."}` };
  }
  const untried = converted && whyUntried(converted);
  if (untried !== undefined) return { note: untried };
  const scorer = new AnswerScorer(config, signal === undefined ? {} : { signal });
  return scorer.body.reward.terms.some((term) => ownFile(term) !== undefined)
    ? { config, loaded, scorer }
    : undefined;
}

/** Whether the file names a reward function of its folder, which only running it can try. */
export function hasOwnReward(file: string): boolean {
  try {
    const own = ownReward(file);
    return own !== undefined && "scorer" in own;
  } catch (error) {
    // `validate` says what is wrong with the file.
    if (error instanceof UserError) return false;
    throw error;
  }
}

/**
 * Runs functions of the folder.
 * @param signal ends it; what was found by then counts
 */
export async function tryReward(file: string, signal: AbortSignal): Promise<Tried> {
  const findings: Finding[] = [];
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(`${file}: ${text}`);
  try {
    const own = ownReward(file, signal);
    if (own === undefined) return { findings, notes };
    if ("note" in own) return { findings, notes: [`${file}: ${own.note}`] };
    const { config, loaded, scorer } = own;
    const close = (): void => void scorer.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      for await (const found of checkReward(config, loaded, scorer, {
        unsaved: {},
        rollouts: [],
        near: () => recordedNear(config),
      }))
        if (found.kind === "note") note(found.note);
        else
          findings.push(
            ...found.findings.map(({ file: at, cell, line, severity, check, message }): Finding => ({
              file: pathText(resolve(at)),
              ...(cell === undefined ? {} : { cell }),
              line: line + 1,
              severity,
              by: "reward",
              rule: check,
              message,
            })),
          );
    } finally {
      signal.removeEventListener("abort", close);
      await scorer.close();
    }
  } catch (error) {
    if (signal.aborted)
      note("its reward was not tried to the end: the time that `--seconds` gives was over.");
    else if (error instanceof UserError) note(`its reward was not tried: ${error.message}.`);
    else throw error;
  }
  return { findings, notes };
}
