/** What is said of tasks whose data is not here: what of a check was left out, and what the rest was tried on. */
import { goldLeft, standInText, unreadText } from "../../analysis/rewardChecks/sentences.ts";
import type { TasksToTry } from "../../analysis/rewardChecks/standInTasks.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { visibleText } from "../../../shared/lib/visibleText.ts";
import { complain, exit, printJson } from "../command.ts";
import { pathText } from "../text/diagnostics.ts";

interface Told {
  readonly config: RunConfig;
  readonly tried: TasksToTry;
  readonly json: boolean;
}

/** Once for all checks. Where nothing can be tried, that is a failure. */
export function sayTasks({ config, tried, json }: Told): void {
  const text = standInText(tried);
  if (text === undefined) return;
  if (json) printJson({ type: "tasks", ...tried.from, tasks: tried.tasks.length });
  else complain(visibleText(`${pathText(config.file)}: ${text}`));
  if (tried.tasks.length === 0) process.exitCode = exit.failed;
}

/** Of gold, which needs the data itself. */
export function sayUnread({ config, tried, json }: Told): void {
  const text = goldLeft(tried);
  if (text === undefined) return;
  process.exitCode = exit.failed;
  if (!json) return complain(visibleText(`${pathText(config.file)}: ${text}`));
  for (const one of tried.unread)
    printJson({ type: "unread", data: one.data, reason: unreadText(one), checks: ["gold"] });
}
