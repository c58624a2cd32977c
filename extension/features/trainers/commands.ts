/** What can be done with a file that starts verl, TRL or OpenRLHF: check it, and make a config of it to rehearse. */
import {
  NotebookRange,
  commands as editor,
  window,
  workspace,
  type Disposable,
  type NotebookDocument,
  type TextDocument,
} from "vscode";
import { cellIn, launchIn } from "./cardItems.ts";
import { language } from "../../../shared/editor/contributions.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { trainerIn } from "../../../shared/editor/trainers.ts";
import { trainers } from "../../../shared/run/trainers.ts";
import { printed, type CommandLine } from "../../vscode/commandLine.ts";
import { trainerLaunches } from "../rescore/naming.ts";
import { Nothing, register } from "../../vscode/commands.ts";

export function registerTrainerCommands(commandLine: () => CommandLine): readonly Disposable[] {
  return [
    register("trainerValidate", (word) => validate(word)),
    register("trainerConvert", (word) => convert(word, commandLine())),
  ];
}

const trainerOf = (document: TextDocument): string | undefined => {
  const trainer = trainerIn(document.getText(), document.languageId);
  return trainer === undefined ? undefined : trainers[trainer].name;
};

/** The row's, else the active one, else one of those that are open, else of the workspace: the one that was seen may be closed by now. */
async function pickLaunch(word: unknown, title: string): Promise<TextDocument | undefined> {
  const named = launchIn(word);
  if (named !== undefined) return workspace.openTextDocument(named);
  const active = window.activeTextEditor?.document;
  if (active !== undefined && trainerOf(active) !== undefined) return active;
  const seen = workspace.textDocuments.filter((document) => trainerOf(document) !== undefined);
  const open =
    seen.length > 0
      ? seen
      : await Promise.all((await trainerLaunches()).map((uri) => workspace.openTextDocument(uri)));
  if (open.length === 0)
    throw new Nothing(
      "No file of this workspace starts verl, TRL or OpenRLHF.",
      "Open the launch script, the YAML or the Python file first.",
    );
  if (open.length === 1) return open[0];
  const items = open.map((document) => ({
    label: workspace.asRelativePath(document.uri),
    description: trainerOf(document) ?? "",
    document,
  }));
  return (await window.showQuickPick(items, { title }))?.document;
}

async function validate(word: unknown): Promise<void> {
  const at = cellIn(word);
  if (at !== undefined) {
    const cell = new NotebookRange(at.cell - 1, at.cell);
    const notebook = await workspace.openNotebookDocument(at.notebook);
    return void (await window.showNotebookDocument(notebook, { selections: [cell] }));
  }
  const document = await pickLaunch(undefined, "Validate Trainer Configuration");
  if (document === undefined) return;
  const notebook = notebookOf(document);
  if (notebook === undefined) await window.showTextDocument(document, { preview: true });
  else await window.showNotebookDocument(notebook, { preview: true });
  await editor.executeCommand("workbench.actions.view.problems");
}

/** Of a cell, which is a document as well. */
const notebookOf = (document: TextDocument): NotebookDocument | undefined =>
  workspace.notebookDocuments.find((notebook) =>
    notebook.getCells().some((cell) => cell.document === document),
  );

/** Opened, not written: the person decides where it goes. */
async function convert(word: unknown, commandLine: CommandLine): Promise<void> {
  const document = await pickLaunch(word, "Create Config From Trainer Configuration");
  if (document === undefined) return;
  if (document.isDirty && !(await (notebookOf(document) ?? document).save()))
    throw new UserError("The file could not be saved, so no config was created.");
  const content = await printed(commandLine, ["convert", document.uri.fsPath]);
  await window.showTextDocument(await workspace.openTextDocument({ language: language.id, content }));
}
