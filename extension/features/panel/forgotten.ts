/** A held-out task that a run lost: its answers next to each other, and the config that practises what was lost. */
import { Uri, ViewColumn, commands as editor, window, workspace } from "vscode";
import type { PanelForgotten } from "../../../shared/editor/panelTurnover.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { configReview, rolloutsQuery, runsShow } from "../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Asker } from "../connection/asker.ts";
import { rolloutUri } from "../rollouts/address.ts";
import { showEdited } from "./applyFix.ts";

interface NamedRun {
  readonly run: string;
  readonly name: string;
}

/** The last right answer and the first wrong one in the diff editor. @throws UserError where they were not kept */
export async function diffForgotten(
  source: Asker,
  { run, name }: NamedRun,
  { task, solved, lost }: PanelForgotten,
): Promise<void> {
  const [right, wrong] = [await answerAt(source, run, task, solved), await answerAt(source, run, task, lost)];
  if (right === undefined || wrong === undefined)
    throw new UserError(`The evaluations did not keep their answers to ${task}.`, {
      action: "More are kept with a larger `evaluation.record`.",
    });
  const uri = ({ step, group, index }: RolloutRow): Uri => rolloutUri({ run, step, group, index }, name);
  const title = `${name} · right after step ${solved} ↔ wrong after step ${lost}`;
  await editor.executeCommand("vscode.diff", uri(right), uri(wrong), title, {
    preview: true,
    viewColumn: ViewColumn.One,
  });
}

const mostAnswers = 64;

/** The greedy one, which decides. */
async function answerAt(
  source: Asker,
  run: string,
  task: string,
  step: number,
): Promise<RolloutRow | undefined> {
  const where = `use == "evaluate" && task == ${JSON.stringify(task)}`;
  const { rollouts } = await source.ask(rolloutsQuery, { run, step, where, limit: mostAnswers });
  return rollouts.toSorted((one, other) => one.index - other.index)[0];
}

/** Writes a stage that practises what was forgotten: the person sees the change, may take it back, and saves it. */
export async function reviewForgotten(source: Asker, run: string): Promise<void> {
  const { file } = await source.ask(runsShow, { run });
  const document = await workspace.openTextDocument(Uri.file(file));
  const before = document.getText();
  const { text, stage, message } = await source.ask(configReview, { run, text: before });
  if (!(await showEdited(document, before, text, `Review: stage ${stage}`))) return;
  void window.showInformationMessage(
    `${message} Run the config, or fork this run's last checkpoint to go on with it.`,
  );
}
