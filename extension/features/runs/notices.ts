/** Notifications of what became of a run that nobody is looking at: its end, and an alarm while it trains. */
import { ConfigurationTarget, window, workspace } from "vscode";
import { settings } from "../../../shared/editor/contributions.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { runsVerdict, type RunSummary } from "../../../shared/protocol/protocol.ts";
import { isLive } from "../../../shared/protocol/runStatus.ts";
import { alarmOf, plainText, type VerdictFix } from "../../../shared/run/verdict.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import type { Stores } from "../connection/stores.ts";
import { applyFix } from "../panel/applyFix.ts";
import type { RunPanels } from "../panel/host.ts";
import { alarmText, endText } from "./treeModel.ts";

type NoticeSetting = "notificationsRunEnded" | "notificationsAlarm";

interface Notice {
  readonly level: "information" | "warning" | "error";
  readonly text: string;
  /** A button of its own, and what it does. */
  readonly fix?: { readonly title: string; readonly apply: () => Promise<void> };
}

const shows: Readonly<
  Record<Notice["level"], (text: string, ...buttons: string[]) => Thenable<string | undefined>>
> = {
  information: (text, ...buttons) => window.showInformationMessage(text, ...buttons),
  warning: (text, ...buttons) => window.showWarningMessage(text, ...buttons),
  error: (text, ...buttons) => window.showErrorMessage(text, ...buttons),
};

export function announceRuns(stores: Stores, panels: RunPanels): void {
  const announce = (
    name: NoticeSetting,
    run: RunSummary,
    notice: () => Promise<Notice | undefined>,
  ): void => {
    if (isSeen(panels, run) || !setting(name, true)) return;
    show(name, run, notice, panels).catch((error: unknown) => output().warn(messageOf(error)));
  };
  stores.ended.on((run) => announce("notificationsRunEnded", run, () => Promise.resolve(endNotice(run))));
  stores.alarmed.on((run) => announce("notificationsAlarm", run, () => alarmNotice(stores, run)));
}

const isSeen = (panels: RunPanels, { id }: RunSummary): boolean => window.state.focused && panels.sees(id);

async function show(
  name: NoticeSetting,
  run: RunSummary,
  notice: () => Promise<Notice | undefined>,
  panels: RunPanels,
): Promise<void> {
  const made = await notice();
  // It may have been looked at while it was asked for.
  if (made === undefined || isSeen(panels, run)) return;
  const { level, text, fix } = made;
  const buttons = ["Open Run", ...(fix === undefined ? [] : [fix.title]), "Don't Show Again"];
  const answer = await shows[level](text, ...buttons);
  if (answer === "Open Run") panels.show(run.id, run.name);
  else if (answer === "Don't Show Again")
    await workspace.getConfiguration().update(settings[name], false, ConfigurationTarget.Global);
  else if (answer !== undefined) await fix?.apply();
}

function endNotice(run: RunSummary): Notice {
  const alarm = alarmOf(run);
  const message = plainText(alarm?.headline ?? run.message ?? "");
  const reason = message === "" ? "" : `: ${message.replace(/[.\s]+$/, "")}`;
  return {
    level: run.status === "failed" ? "error" : alarm === undefined ? "information" : "warning",
    text: `${run.name} ${endText(run)}${reason}.`,
  };
}

/** undefined: it ended, was dismissed or taken back since. */
async function alarmNotice(stores: Stores, run: RunSummary): Promise<Notice | undefined> {
  const session = await stores.connectedFor(run.id);
  const { verdict } = await session.ask(runsVerdict, { run: run.id });
  const now = stores.ofRun(run.id)?.runs.find(run.id);
  if (verdict === null || now === undefined || !isLive(now.status)) return undefined;
  if (alarmOf({ verdict }) === undefined) return undefined;
  const [first] = verdict.fixes;
  const apply = (fix: VerdictFix) => () => applyFix(session, run.file, fix);
  return {
    level: "warning",
    text: alarmText(run, verdict),
    ...(first === undefined ? {} : { fix: { title: plainText(first.title), apply: apply(first) } }),
  };
}
