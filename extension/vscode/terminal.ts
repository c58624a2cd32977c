/** The `gradus` command in a terminal, where a person sees what it says and can end it. */
import { window, workspace } from "vscode";
import type { CommandLine } from "./commandLine.ts";

export function runInTerminal({ node, cli }: CommandLine, words: readonly string[], title: string): void {
  const cwd = workspace.workspaceFolders?.[0]?.uri;
  const terminal = window.createTerminal({ name: title, ...(cwd === undefined ? {} : { cwd }) });
  terminal.show();
  terminal.sendText([node, cli, ...words].map(quoted).join(" "));
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`;
