/** Folders of the workspace that are on this disk. */
import { workspace, type WorkspaceFolder } from "vscode";

export const localFolders = (): readonly WorkspaceFolder[] =>
  (workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");

export const localPaths = (): readonly string[] => localFolders().map(({ uri }) => uri.fsPath);
