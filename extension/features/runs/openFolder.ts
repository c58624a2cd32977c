/** Opens what another program has written, or is writing, as a run: verl, TRL, `gradus hook`, or a tracker. */
import { Uri, window, workspace } from "vscode";
import { views } from "../../../shared/editor/contributions.ts";
import { runsImport } from "../../../shared/protocol/protocol.ts";
import { withBar, type Stores } from "../connection/stores.ts";
import type { RunPanels } from "../panel/host.ts";
import { outputIn } from "../trainers/cardItems.ts";

/** @param word a folder or a log of the explorer, or a row of what a trainer has left; without one the person names it */
export async function openFolder(stores: Stores, panels: RunPanels, word: unknown): Promise<void> {
  const left = outputIn(word);
  const uri = left === undefined ? (word instanceof Uri ? word : await pick()) : Uri.file(left.folder);
  if (uri === undefined) return;
  const config = left?.config === undefined ? {} : { config: left.config };
  const store = stores.ofFile(uri);
  const { run, note } = await withBar(views.runs, async () =>
    (await stores.session(store)).ask(runsImport, { folder: uri.fsPath, ...config }),
  );
  panels.show(run, store?.runs.find(run)?.name ?? run);
  if (note !== null) void window.showInformationMessage(note);
}

async function pick(): Promise<Uri | undefined> {
  const [root] = workspace.workspaceFolders ?? [];
  const chosen = await window.showOpenDialog({
    title: "Open Run Folder",
    openLabel: "Open Run",
    canSelectFolders: true,
    canSelectFiles: false,
    ...(root === undefined ? {} : { defaultUri: root.uri }),
  });
  return chosen?.[0];
}
