/** Validate a config; create one. */
import {
  DiagnosticSeverity,
  commands as editor,
  languages,
  window,
  workspace,
  type Disposable,
  type Uri,
} from "vscode";
import { plural } from "../../../shared/lib/format.ts";
import { printed, type CommandLine } from "../../vscode/commandLine.ts";
import { Nothing, register } from "../../vscode/commands.ts";
import { pickConfig } from "../runs/pick.ts";
import { findConfigs } from "./find.ts";

/** How long the language server may take to say something about a file that it sees for the first time. */
const patience = 3_000;

export function registerConfigCommands(commandLine: () => CommandLine): readonly Disposable[] {
  return [
    register("configValidate", (word) => validate(word)),
    register("configCreate", () => create(commandLine())),
  ];
}

async function validate(word: unknown): Promise<void> {
  const uri = await pickConfig(word, "Validate Config");
  if (uri === undefined) return;
  const known = languages.getDiagnostics(uri).length > 0;
  const checked = known ? Promise.resolve() : firstDiagnostics(uri);
  await window.showTextDocument(uri, { preview: true });
  await checked;
  const found = languages
    .getDiagnostics(uri)
    .filter(({ severity }) => severity <= DiagnosticSeverity.Warning);
  const name = workspace.asRelativePath(uri);
  if (found.length === 0) return void window.setStatusBarMessage(`$(pass) ${name}: no problems`, 5_000);
  window.setStatusBarMessage(`$(warning) ${name}: ${plural(found.length, "problem")}`, 5_000);
  await editor.executeCommand("workbench.actions.view.problems");
}

/** Resolves when something is said of the file, or when nothing has been for a while: a valid file has nothing to be said. */
function firstDiagnostics(uri: Uri): Promise<void> {
  return new Promise((resolve) => {
    const listener = languages.onDidChangeDiagnostics(({ uris }) => {
      if (uris.some((one) => one.toString() === uri.toString())) done();
    });
    const timer = setTimeout(() => done(), patience);
    const done = (): void => {
      clearTimeout(timer);
      listener.dispose();
      resolve();
    };
  });
}

/** `gradus init` writes the starter; this opens what it wrote. */
async function create(commandLine: CommandLine): Promise<void> {
  const folders = workspace.workspaceFolders ?? [];
  if (folders.length === 0)
    throw new Nothing("No folder is open, so there is nowhere to put a config.", "Open a folder first.");
  const folder =
    folders.length === 1
      ? folders[0]
      : await window.showWorkspaceFolderPick({ placeHolder: "Folder for the new config" });
  if (folder === undefined) return;
  const before = new Set((await findConfigs()).map((uri) => uri.toString()));
  await printed(commandLine, ["init"], { cwd: folder.uri.fsPath });
  const made = (await findConfigs()).find((uri) => !before.has(uri.toString()));
  if (made !== undefined) await window.showTextDocument(made);
}
