/** What every panel with a webview of ours has: where it loads from, its icon, the page it begins with. */
import { randomBytes } from "node:crypto";
import { Uri, type WebviewPanel } from "vscode";
import { page } from "./html.ts";

const filesOf = (home: Uri): Uri => Uri.joinPath(home, "dist", "webviews");

/** @param home the extension's folder */
export const webviewOptions = (home: Uri): { enableScripts: true; localResourceRoots: readonly Uri[] } => ({
  enableScripts: true,
  localResourceRoots: [filesOf(home)],
});

/** Of a new panel, and of one that the editor has restored. */
export function dress(panel: WebviewPanel, home: Uri): void {
  panel.iconPath = {
    light: Uri.joinPath(home, "media", "gradus.svg"),
    dark: Uri.joinPath(home, "media", "gradus-dark.svg"),
  };
  panel.webview.options = webviewOptions(home);
}

/** Loads it. @param name of its script and its style, without the ending */
export function load({ webview }: WebviewPanel, home: Uri, title: string, name: string): void {
  const file = (ending: string): string =>
    webview.asWebviewUri(Uri.joinPath(filesOf(home), `${name}.${ending}`)).toString();
  webview.html = page({
    title,
    nonce: randomBytes(16).toString("base64url"),
    source: webview.cspSource,
    script: file("js"),
    style: file("css"),
  });
}
