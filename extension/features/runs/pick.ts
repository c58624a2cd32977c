/** Which run, which config: from the row, the panel, the editor, or by asking. */
import { Uri, window, workspace, type QuickPickItem } from "vscode";
import { language } from "../../../shared/editor/contributions.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunSummary } from "../../../shared/protocol/protocol.ts";
import type { RunStatus } from "../../../shared/protocol/runStatus.ts";
import { findConfigs } from "../configs/find.ts";
import type { Stores } from "../connection/stores.ts";
import { runDescription } from "./treeModel.ts";

/** A run's id in what a command was given: an id, a row of the tree, or nothing. */
function runIn(word: unknown): string | undefined {
  if (typeof word === "string" && word !== "") return word;
  if (typeof word !== "object" || word === null || !("run" in word)) return undefined;
  const { run } = word;
  if (typeof run === "string") return run;
  return typeof run === "object" && run !== null && "id" in run && typeof run.id === "string"
    ? run.id
    : undefined;
}

/** The run that a command is about; asks among those in one of `statuses`. Undefined: the person changed their mind. */
export async function pickRun(
  stores: Stores,
  word: unknown,
  title: string,
  statuses?: readonly RunStatus[],
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
  const runs = stores.runs.filter((run) => statuses?.includes(run.status) ?? true);
  if (runs.length === 0)
    throw new UserError(
      stores.runs.length === 0 ? "There are no runs yet." : "No run is in a state for that.",
      { action: "Start one with ▶ Run above a config." },
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
 * Runs that a command is about: all that are selected where the one that was clicked is among them, else that one.
 * @param more rows of the tree
 */
export async function pickRuns(
  stores: Stores,
  word: unknown,
  more: unknown,
  title: string,
): Promise<readonly RunSummary[]> {
  const named = (Array.isArray(more) ? more : []).flatMap((row: unknown) => runIn(row) ?? []);
  const clicked = runIn(word);
  const ids = clicked === undefined || named.includes(clicked) ? named : [clicked];
  if (ids.length > 0) return [...new Set(ids)].flatMap((id) => stores.ofRun(id)?.runs.find(id) ?? []);
  const run = await pickRun(stores, word, title);
  return run === undefined ? [] : [run];
}

/** The config that a command is about: a file, a row, the active editor's, or one that is picked. */
export async function pickConfig(word: unknown, title: string): Promise<Uri | undefined> {
  if (word instanceof Uri) return word;
  if (typeof word === "object" && word !== null && "uri" in word && word.uri instanceof Uri) return word.uri;
  const active = window.activeTextEditor?.document;
  if (active?.languageId === language.id) return active.uri;
  const configs = await findConfigs();
  if (configs.length === 0)
    throw new UserError("No config (*.gradus.yaml) was found in this workspace.", {
      action: "Create one with Gradus: Create Config.",
    });
  if (configs.length === 1) return configs[0];
  const items = configs.map((uri) => ({ label: workspace.asRelativePath(uri), uri }));
  return (await window.showQuickPick(items, { title }))?.uri;
}
