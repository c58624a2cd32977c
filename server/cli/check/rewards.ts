/** What the reward of each configuration pays for its own reference answers, and for answers that should earn nothing. */
import { resolve } from "node:path";
import { AnswerScorer } from "../../analysis/rewardChecks/answers.ts";
import { checkReward } from "../../analysis/rewardChecks/check.ts";
import { ownFile } from "../../analysis/rewardChecks/ownFiles.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Diagnostic } from "../../config/check/diagnostic.ts";
import { needs } from "../../config/needs.ts";
import { loadTried } from "../../frameworks/use/asConfig/builtRows.ts";
import { loadFile, type LoadedFile } from "../../frameworks/use/asConfig/load.ts";
import { whyUntried } from "../../frameworks/use/asConfig/untried.ts";
import { engineKeys } from "../../frameworks/lens/engineKeys.ts";
import { recordedNear } from "../../store/recordedNear.ts";
import { pathText } from "../text/diagnostics.ts";
import type { RewardFinding } from "../../../shared/protocol/rewards.ts";
import type { Finding } from "../../../shared/editor/folderSum.ts";

interface Tried {
  readonly findings: readonly Finding[];
  readonly notes: readonly string[];
}

const options = { needs: needs.tried, engineKeys };

/** Whether a file's reward is a function of its folder, which only running it can try; a note where it cannot be tried. */
export type OwnReward = { readonly note: string } | "none" | "one";

/** Rules whose errors say why a reward does not load: loading it would only say it again. */
const unloadable: ReadonlySet<string> = new Set([
  "reward-file",
  "verl-reward-function",
  "trl-reward-definition",
  "openrlhf-reward-file",
  "openrlhf-agent-file",
]);

/**
 * Nothing runs.
 * @param diagnostics what was found wrong with the file
 */
export function ownReward(
  file: string,
  diagnostics: readonly Pick<Diagnostic, "rule" | "severity">[],
): OwnReward {
  if (diagnostics.some(({ rule, severity }) => severity === "error" && unloadable.has(rule))) return "none";
  try {
    return ownTerms(file);
  } catch (error) {
    if (error instanceof UserError) return { note: refused(error) };
    throw error;
  }
}

function ownTerms(file: string): OwnReward {
  const { config, converted, diagnostics } = loadFile(file, options);
  const untried = converted && whyUntried(converted);
  if (config === undefined) return { note: unread(diagnostics) };
  if (untried !== undefined) return { note: untried };
  const { body } = new AnswerScorer(config);
  return body.reward.terms.some((term) => ownFile(term) !== undefined) ? "one" : "none";
}

/** What is tried of a file whose reward is a function of the folder's; a note where it cannot be tried. */
async function triedOf(file: string, signal: AbortSignal) {
  const { loaded, untried, notes } = await loadTried(file, options, signal);
  const { config, diagnostics } = loaded;
  if (untried !== undefined) return { note: untried };
  if (config !== undefined) return { config, loaded, notes, scorer: new AnswerScorer(config, { signal }) };
  return { note: unread(diagnostics) };
}

const unread = (diagnostics: LoadedFile["diagnostics"]): string =>
  `its reward was not tried: ${diagnostics.find(({ severity }) => severity === "error")?.message ?? "the file cannot be read."}`;

const refused = (error: UserError): string => `its reward was not tried: ${error.message}.`;

/** What it needs is installed where it trains: that says nothing of the reward. */
const isElsewhere = ({ check, severity }: RewardFinding): boolean => check === "load" && severity === "info";

const findingOf = ({ file, cell, line, severity, check, message }: RewardFinding): Finding => ({
  file: pathText(resolve(file)),
  ...(cell === undefined ? {} : { cell }),
  line: line + 1,
  severity: severity === "hint" ? "info" : severity,
  by: "reward",
  rule: check,
  message,
});

/**
 * Runs functions of the folder.
 * @param own of the file
 * @param signal ends it; what was found by then counts
 */
export async function tryReward(file: string, own: OwnReward, signal: AbortSignal): Promise<Tried> {
  const findings: Finding[] = [];
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(`${file}: ${text}`);
  if (own !== "one") {
    if (own !== "none") note(own.note);
    return { findings, notes };
  }
  try {
    const tried = await triedOf(file, signal);
    if ("note" in tried) {
      note(tried.note);
      return { findings, notes };
    }
    const { config, loaded, scorer } = tried;
    tried.notes.forEach(note);
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
          for (const one of found.findings)
            if (isElsewhere(one)) note(one.message);
            else findings.push(findingOf(one));
    } finally {
      signal.removeEventListener("abort", close);
      await scorer.close();
    }
  } catch (error) {
    if (signal.aborted)
      note("its reward was not tried to the end: the time that `--seconds` gives was over.");
    else if (error instanceof UserError) note(refused(error));
    else throw error;
  }
  return { findings, notes };
}
