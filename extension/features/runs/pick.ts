/** Which run, which config: from the row, the panel, the editor, or by asking. */
import { Uri, window, workspace, type QuickPickItem } from "vscode";
import { language } from "../../../shared/editor/contributions.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import { Nothing } from "../../vscode/commands.ts";
import { stateWord } from "../../../shared/run/origin.ts";
import { findConfigs } from "../configs/find.ts";
import type { Stores } from "../connection/stores.ts";
import { rowsOf, runIn, runsIn } from "./rows.ts";
import { runDescription } from "./treeModel.ts";

export type RunState = ReturnType<typeof stateWord>;

/** The run that a command is about; asks among those in one of `states`. Undefined: the person changed their mind. */
export async function pickRun(
  stores: Stores,
  word: unknown,
  title: string,
  states?: readonly RunState[],
): Promise<RunSummary | undefined> {
  const named = runIn(word);
  if (named !== undefined) {
    const found = stores.ofRun(named)?.runs.find(named);
    if (found === undefined)
      throw new UserError(`Run ${named} is not in the store of this workspace.`, {
        action: "It may have been deleted: refresh the runs view.",
      });
    return found;
  }
  const runs = stores.runs.filter((run) => states?.includes(stateWord(run)) ?? true);
  if (runs.length === 0)
    throw new Nothing(
      stores.runs.length === 0 ? "There are no runs yet." : "No run is in a state for that.",
      "Start one with ▶ Run above a config.",
    );
  if (runs.length === 1) return runs[0];
  const items = runs.map((run): QuickPickItem & { run: RunSummary } => ({
    label: run.name,
    description: runDescription(run, Date.now()),
    detail: run.id,
    run,
  }));
  return (await window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true }))?.run;
}

/**
 * Runs of those rows, or the one that is picked where there are none.
 * @param states of the runs to pick from
 */
export async function pickRuns(
  stores: Stores,
  word: unknown,
  more: unknown,
  title: string,
  states?: readonly RunState[],
): Promise<readonly RunSummary[]> {
  const known = runsIn(rowsOf(word, more)).flatMap((id) => stores.ofRun(id)?.runs.find(id) ?? []);
  if (known.length > 0) return known;
  const run = await pickRun(stores, word, title, states);
  return run === undefined ? [] : [run];
}

/**
 * The file of a config, with what is in the editor: a run reads files. One that has no file yet (made of a paper or of a
 * trainer's file) gets one. Undefined: the person gave it no name.
 */
export async function savedConfig(uri: Uri): Promise<Uri | undefined> {
  const document = workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  if (document?.isUntitled === true) return workspace.save(uri);
  if (document?.isDirty === true && !(await document.save()))
    throw new UserError("The config could not be saved, so no run was started.");
  return uri;
}

/** As `pickConfig`, saved: what a run is started of. */
export async function pickSavedConfig(word: unknown, title: string): Promise<Uri | undefined> {
  const picked = await pickConfig(word, title);
  return picked && savedConfig(picked);
}

/** The config that a command is about: a file, a row, the active editor's, or one that is picked. */
export async function pickConfig(word: unknown, title: string): Promise<Uri | undefined> {
  if (word instanceof Uri) return word;
  if (typeof word === "object" && word !== null && "uri" in word && word.uri instanceof Uri) return word.uri;
  const active = window.activeTextEditor?.document;
  if (active?.languageId === language.id) return active.uri;
  const configs = await findConfigs();
  if (configs.length === 0)
    throw new Nothing(
      "No config (*.gradus.yaml) was found in this workspace.",
      "Create one with Gradus: Create Config.",
    );
  if (configs.length === 1) return configs[0];
  const items = configs.map((uri) => ({ label: workspace.asRelativePath(uri), uri }));
  return (await window.showQuickPick(items, { title }))?.uri;
}
