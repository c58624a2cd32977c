/** The `gradus` command in a terminal, where a person sees what it says and can end it. */
import { ProcessExecution, Task, TaskPanelKind, TaskRevealKind, TaskScope, tasks, workspace } from "vscode";
import type { CommandLine } from "./commandLine.ts";

/** No shell comes between: each has its own rules for quotes, and `$(…)` in the name of a file would run. */
export function runInTerminal(
  { node, cli, needs }: CommandLine,
  words: readonly string[],
  title: string,
): Thenable<unknown> {
  const [folder] = workspace.workspaceFolders ?? [];
  const task = new Task(
    { type: "gradus" },
    folder ?? TaskScope.Workspace,
    title,
    "gradus",
    new ProcessExecution(node, [cli, ...words], {
      env: { ...needs },
      ...(folder !== undefined && { cwd: folder.uri.fsPath }),
    }),
  );
  // What it said stays to be read, and a second one gets a terminal of its own.
  task.presentationOptions = { reveal: TaskRevealKind.Always, panel: TaskPanelKind.New };
  return tasks.executeTask(task);
}
