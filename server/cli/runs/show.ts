/** `gradus runs show`: everything known about a run. */
import type { Command as Program } from "commander";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { tasksQuery, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { taskTree } from "../../../shared/run/taskTree.ts";
import { print, printJson } from "../command.ts";
import { matrixText } from "../text/matrixText.ts";
import { detailLines } from "../text/runDetail.ts";
import { wrapped } from "../text/terminal.ts";
import { everythingOf, runJson } from "./everythingOf.ts";
import { ofRun, type Options } from "./ofRun.ts";

export function showCommand(program: Program): void {
  ofRun<{ tasks?: boolean }>(program, "show", "show everything known about a run", show).option(
    "--tasks",
    "show the tasks that it made, under their parents",
  );
}

async function show(
  connection: Requester,
  { id }: RunSummary,
  { json, tasks }: Options & { readonly tasks?: boolean },
): Promise<void> {
  if (tasks === true) return showTasks(connection, id, json);
  const known = await everythingOf(connection, id);
  if (json === true) return printJson(runJson(known));
  const { isTTY, columns } = process.stdout;
  const text = detailLines(known).join("\n");
  print([isTTY && columns > 0 ? wrapped(text, columns) : text, ...matrixText(known.ends)].join("\n"));
}

async function showTasks(connection: Requester, run: string, json: boolean | undefined): Promise<void> {
  const { tasks } = await ask(connection, tasksQuery, { run, limit: 100_000 });
  if (json === true) return printJson({ run, tasks });
  print(tasks.length === 0 ? "This run has made no tasks." : taskTree(tasks).join("\n"));
}
