/** Where a run may train: the sites of a config's project, this machine, or a host of ssh. */
import { FileType, Uri, window, workspace, type QuickPickItem } from "vscode";

interface SiteItem extends QuickPickItem {
  /** undefined: a host that the person types. */
  readonly site: string | undefined;
}

const ending = /\.ya?ml$/;

/** Files of the folders `sites` from a config's folder upwards to its workspace folder's, the nearest first. */
async function siteFiles(config: Uri): Promise<readonly Uri[]> {
  const root = workspace.getWorkspaceFolder(config)?.uri.path ?? "/";
  const found: Uri[] = [];
  for (let folder = Uri.joinPath(config, ".."); ; folder = Uri.joinPath(folder, "..")) {
    const sites = Uri.joinPath(folder, "sites");
    const entries = await workspace.fs.readDirectory(sites).then(
      (all) => all,
      () => [], // most folders have none
    );
    for (const [name, type] of entries)
      if (type === FileType.File && ending.test(name)) found.push(Uri.joinPath(sites, name));
    if (folder.path === root || folder.path === Uri.joinPath(folder, "..").path) return found;
  }
}

/** undefined: the person chose none. */
export async function pickSite(config: Uri): Promise<string | undefined> {
  const items = async (): Promise<SiteItem[]> => [
    ...(await siteFiles(config)).map((uri) => ({
      label: `$(server) ${(uri.path.split("/").at(-1) ?? "").replace(ending, "")}`,
      description: workspace.asRelativePath(uri),
      site: uri.fsPath,
    })),
    {
      label: "$(vm) this machine",
      description: "by the trainer that the config names, or by Gradus",
      site: "here",
    },
    { label: "$(remote) a host of ssh…", description: "as `ssh` knows it", site: undefined },
  ];
  const title = "Start Run on Site";
  const chosen = await window.showQuickPick(items(), { title, placeHolder: "Where is it trained?" });
  if (chosen === undefined || chosen.site !== undefined) return chosen?.site;
  const typed = await window.showInputBox({
    title,
    prompt: "An alias of ~/.ssh/config, or user@host",
    validateInput: (text) => (/^[^\s-]\S*$/.test(text) ? undefined : "The name of a host has no spaces."),
  });
  return typed === undefined || typed === "" ? undefined : typed;
}
