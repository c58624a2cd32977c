/** The end of a stage was dragged in a run's panel: the same in its config, once the person has seen the change. */
import { Range, Uri, WorkspaceEdit, window, workspace } from "vscode";
import { stageSteps } from "../../../shared/protocol/protocol.ts";
import type { Asker } from "../connection/asker.ts";

export interface StageMove {
  readonly run: string;
  readonly file: string;
  readonly stage: string;
  readonly was: number;
  readonly steps: number;
}

/** @throws UserError where the config is not what the run was made of */
export async function moveStage(source: Asker, { run, file, stage, was, steps }: StageMove): Promise<void> {
  const document = await workspace.openTextDocument(Uri.file(file));
  const { range, newText } = await source.ask(stageSteps, {
    run,
    text: document.getText(),
    stage,
    was,
    steps,
  });
  const question = `Give stage "${stage}" ${steps} steps instead of ${was} in ${workspace.asRelativePath(document.uri)}?`;
  const detail = "This run does not change: the new value takes effect when the config is run again.";
  const answer = await window.showInformationMessage(question, { modal: true, detail }, "Change", "Preview");
  if (answer === undefined) return;
  const edit = new WorkspaceEdit();
  const { start, end } = range;
  edit.replace(document.uri, new Range(start.line, start.character, end.line, end.character), newText, {
    needsConfirmation: answer === "Preview",
    label: `Stage ${stage}: ${steps} steps`,
    description: detail,
  });
  if (await workspace.applyEdit(edit)) await window.showTextDocument(document, { preserveFocus: true });
}
