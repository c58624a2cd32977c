/** A chart of the panel as a file, where the person wants it. */
import { homedir } from "node:os";
import { Uri, window, workspace } from "vscode";
import type { FromPanel } from "../../../shared/editor/runPanel.ts";
import { fileName } from "../../../shared/lib/fileName.ts";

type Save = Extract<FromPanel, { type: "save" }>;

export async function saveChart({ title, format, data }: Save): Promise<void> {
  const folder = workspace.workspaceFolders?.[0]?.uri ?? Uri.file(homedir());
  const name = fileName(`${title.toLowerCase().replace(/[^a-z0-9@]+/g, "-")}.${format.toLowerCase()}`);
  const file = await window.showSaveDialog({
    defaultUri: Uri.joinPath(folder, name),
    filters: { [format]: [format.toLowerCase()] },
    title: `Save ${title}`,
  });
  if (file === undefined) return;
  await workspace.fs.writeFile(file, Buffer.from(data, format === "PNG" ? "base64" : "utf8"));
}
