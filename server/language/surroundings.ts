/** What lies around a file and says which release of a framework it is for: the editor watches it, and names a Python. */
import { DidChangeWatchedFilesNotification, type Connection } from "vscode-languageserver";
import type { ReleaseHints } from "../frameworks/releases/version.ts";
import type { EditorCapabilities } from "./feature.ts";

const watched = ["**/requirements*.{txt,in}", "**/pyproject.toml", "**/*.dist-info/METADATA"];

/** Once the editor may be asked: it reports each change in `workspace/didChangeWatchedFiles`. */
export function watchSurroundings({ client }: Connection, editor: EditorCapabilities): void {
  if (editor.client.workspace?.didChangeWatchedFiles?.dynamicRegistration !== true) return;
  const watchers = watched.map((globPattern) => ({ globPattern }));
  void client.register(DidChangeWatchedFilesNotification.type, { watchers });
}

/** From what an editor hands over as it connects, or, below `gradus`, when a setting changes. */
export function surroundingsOf(options: unknown): ReleaseHints {
  const python = memberOf(options, "pythonPath");
  return typeof python === "string" && python !== "" ? { python } : {};
}

/** undefined where the change says nothing of it: what was handed over holds. */
export function changedSurroundings(settings: unknown): ReleaseHints | undefined {
  const own = memberOf(settings, "gradus");
  return memberOf(own, "pythonPath") === undefined ? undefined : surroundingsOf(own);
}

const memberOf = (holder: unknown, name: string): unknown =>
  typeof holder === "object" && holder !== null ? Reflect.get(holder, name) : undefined;
