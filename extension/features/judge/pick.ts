/** Which run's rollouts are labelled, and for which of its reward terms. */
import { window, workspace } from "vscode";
import type { JudgeState } from "../../../shared/editor/judgePanel.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { rolloutsQuery } from "../../../shared/protocol/protocol.ts";
import { scoreOf } from "../../../shared/rollouts/labels.ts";
import { Nothing } from "../../vscode/commands.ts";
import type { Asker } from "../connection/asker.ts";
import type { Stores } from "../connection/stores.ts";
import { pickRun } from "../runs/pick.ts";

/** Rollouts of which the scored terms are read: a term may apply to few tasks. */
const looked = 64;

/**
 * undefined: the person changed their mind.
 * @param word a run, or a row of the runs view; a step's: only that step
 * @param term where it is known
 */
export async function pickJudge(
  stores: Stores,
  word: unknown,
  term: unknown,
): Promise<JudgeState | undefined> {
  if (!workspace.isTrusted)
    throw new UserError("Labels are written next to the config, so they need a trusted workspace.", {
      action: "Trust this workspace first.",
    });
  const run = await pickRun(stores, word, "Label Rollouts");
  if (run === undefined) return undefined;
  const step =
    typeof word === "object" && word !== null && "step" in word && typeof word.step === "number"
      ? word.step
      : null;
  const named =
    typeof term === "string" ? term : await pickTerm(await stores.session(stores.ofRun(run.id)), run.id);
  return named === undefined ? undefined : { run: run.id, term: named, step };
}

async function pickTerm(source: Asker, run: string): Promise<string | undefined> {
  const { rollouts } = await source.ask(rolloutsQuery, { run, where: 'use == "train"', limit: looked });
  const scored = rollouts.flatMap((row) =>
    Object.keys(row.rewards ?? {}).filter((name) => scoreOf(row, name) !== null),
  );
  const terms = [...new Set(scored)];
  if (terms.length === 0)
    throw new Nothing(
      "No rollout of this run has a score of a reward term.",
      "Choose a run that has trained: its rollouts list what each term gave.",
    );
  if (terms.length === 1) return terms[0];
  const title = "Label Rollouts for a Judge";
  return window.showQuickPick(terms, { title, placeHolder: "Which reward term is the judge?" });
}
