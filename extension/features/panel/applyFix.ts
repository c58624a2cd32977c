/** A fix of a verdict, as an edit of the run's config that the person sees, may take back, and saves. */
import { Range, Uri, WorkspaceEdit, ViewColumn, window, workspace, type TextDocument } from "vscode";
import { configSet } from "../../../shared/protocol/protocol.ts";
import type { VerdictFix } from "../../../shared/run/verdict.ts";
import type { Asker } from "../connection/asker.ts";
import { changedPart } from "./changedPart.ts";

/** @throws UserError where the config gives no safe place for a value */
export async function applyFix(source: Asker, file: string, { title, set }: VerdictFix): Promise<void> {
  const document = await workspace.openTextDocument(Uri.file(file));
  const before = document.getText();
  const { text } = await source.ask(configSet, { file, text: before, set: [...set] });
  await showEdited(document, before, text, title);
}

/** @returns whether the edit was made */
export async function showEdited(
  document: TextDocument,
  before: string,
  text: string,
  label: string,
): Promise<boolean> {
  const { start, end, inserted } = changedPart(before, text);
  const edit = new WorkspaceEdit();
  const range = new Range(document.positionAt(start), document.positionAt(end));
  edit.replace(document.uri, range, inserted, { needsConfirmation: false, label });
  if (!(await workspace.applyEdit(edit))) return false;
  const changed = new Range(document.positionAt(start), document.positionAt(start + inserted.length));
  await window.showTextDocument(document, { viewColumn: ViewColumn.One, selection: changed });
  return true;
}
