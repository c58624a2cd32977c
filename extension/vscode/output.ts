/** The extension's one log, with levels; what a daemon or a run says is in their own logs. */
import { window, type LogOutputChannel } from "vscode";

let channel: LogOutputChannel | undefined;

export function output(): LogOutputChannel {
  channel ??= window.createOutputChannel("Gradus", { log: true });
  return channel;
}
