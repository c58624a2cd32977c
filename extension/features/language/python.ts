/** The Python whose packages say which release of verl, TRL or OpenRLHF a file is written for. Nothing of it is run. */
import { isAbsolute, join } from "node:path";
import { homedir } from "node:os";
import { workspace, type Disposable } from "vscode";
import { DidChangeConfigurationNotification, type LanguageClient } from "vscode-languageclient/node";
import { settings } from "../../../shared/editor/contributions.ts";
import { setting } from "../../vscode/settings.ts";

/** Where the person's own choice for Python is written. */
const usual = "python.defaultInterpreterPath";

/** Absolute; undefined where no setting names one: `python` alone is whatever a shell finds. */
export function pythonPath(): string | undefined {
  const written = setting("pythonPath", "") || workspace.getConfiguration().get<string>(usual, "");
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  const path = written
    .replaceAll(/\$\{workspace(?:Folder|Root)\}/g, folder)
    .replace(/^(?:~|\$\{userHome\})(?=[/\\])/, homedir());
  if (isAbsolute(path)) return path;
  return folder !== "" && /[/\\]/.test(path) ? join(folder, path) : undefined;
}

/** Tells the server when one of the settings changes. */
export const followPython = (client: LanguageClient): Disposable =>
  workspace.onDidChangeConfiguration((event) => {
    if (!event.affectsConfiguration(settings.pythonPath) && !event.affectsConfiguration(usual)) return;
    void client.sendNotification(DidChangeConfigurationNotification.type, {
      settings: { gradus: { pythonPath: pythonPath() ?? "" } },
    });
  });
