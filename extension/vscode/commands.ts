/** Every command goes through here: one log line, one way to report a failure, with the person's next action. */
import { commands as editor, window, type Disposable } from "vscode";
import { commands, settings, type CommandId } from "../../shared/editor/contributions.ts";
import { UserError, messageOf } from "../../shared/lib/errors.ts";
import { output } from "./output.ts";

export type CommandName = keyof typeof commands;

export function register(name: CommandName, act: (...words: readonly unknown[]) => unknown): Disposable {
  const id: CommandId = commands[name];
  return editor.registerCommand(id, async (...words: readonly unknown[]) => {
    try {
      return await act(...words);
    } catch (error) {
      // Not awaited: a message stays until the person answers, and the command's caller should not wait for that.
      void show(error, id);
      return undefined;
    }
  });
}

export const execute = (name: CommandName, ...words: readonly unknown[]): Thenable<unknown> =>
  editor.executeCommand(commands[name], ...words);

/** What can be done about a failure at once, by its code. */
const fixesByCode: Readonly<Record<string, readonly string[]>> = {
  "set-up": ["Set Up Compute"],
  "node-path": ["Open Setting"],
};

/**
 * There is nothing yet that a command could act on. That is no failure: a command that is offered before says what is
 * missing and the next action, as information.
 */
export class Nothing extends UserError {
  constructor(message: string, action = "") {
    super(message, { action });
  }
}

/** Shows a failure once, with where it is and what to do. */
export async function show(error: unknown, where: string): Promise<void> {
  if (error instanceof Nothing) {
    await window.showInformationMessage(`${error.message} ${error.detail.action}`.trimEnd());
    return;
  }
  output().error(`${where}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  const action = error instanceof UserError ? error.detail.action : undefined;
  const file =
    error instanceof UserError && error.detail.file !== undefined
      ? ` (${error.detail.file}:${(error.detail.line ?? 0) + 1})`
      : "";
  const fixes = error instanceof UserError ? (fixesByCode[error.detail.code ?? ""] ?? []) : [];
  const chosen = await window.showErrorMessage(
    // What follows the first line is the end of a log: the output has it.
    `${messageOf(error).split("\n", 1)[0]}${file}${action === undefined ? "" : ` ${action}`}`,
    ...fixes,
    "Show Output",
  );
  if (chosen === "Show Output") output().show();
  if (chosen === "Set Up Compute") await execute("engineSetUp");
  if (chosen === "Open Setting")
    await editor.executeCommand("workbench.action.openSettings", settings.nodePath);
}
