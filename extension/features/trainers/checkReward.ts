/** Gradus: Check Reward. What `gradus check --run` finds of the reward of a launch, without a daemon and without a store. */
import { basename, dirname, resolve } from "node:path";
import { ProgressLocation, commands as editor, window, workspace, type Disposable, type Uri } from "vscode";
import type { Finding, FolderSum } from "../../../shared/editor/folderSum.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { printed, type CommandLine } from "../../vscode/commandLine.ts";
import { register } from "../../vscode/commands.ts";
import { output } from "../../vscode/output.ts";
import { pythonPath } from "../language/python.ts";
import type { ConfigsNaming } from "../rescore/naming.ts";
import type { RewardChecks } from "../rescore/rewardChecks.ts";
import type { RewardFinding } from "../../../shared/protocol/protocol.ts";
import { findingsText } from "./card.ts";
import { launchIn } from "./cardItems.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

export const registerCheckReward = (
  commandLine: () => CommandLine,
  naming: ConfigsNaming,
  checks: RewardChecks,
): Disposable =>
  register("rewardCheck", async (word) => {
    const launch = launchIn(word) ?? (await naming.pick(word));
    if (launch !== undefined) await check(launch, commandLine(), checks);
  });

async function check(launch: Uri, commandLine: CommandLine, checks: RewardChecks): Promise<void> {
  if (!workspace.isTrusted)
    throw new UserError("A reward is a program of this folder, and a check runs it.", {
      code: "untrusted",
      action: "Trust this workspace first.",
    });
  const bar = { location: ProgressLocation.Window, title: "Checking reward" };
  const folder = workspace.getWorkspaceFolder(launch)?.uri.fsPath ?? dirname(launch.fsPath);
  const sum = await window.withProgress(bar, () => tried(launch.fsPath, folder, commandLine));
  const found = sum.findings.filter(({ by }) => by === "reward");
  checks.found(
    launch,
    found.map((one) => rewardFinding(one, folder)),
  );
  for (const text of sum.left) output().info(text);
  if (found.length > 0) return void (await editor.executeCommand("workbench.actions.view.problems"));
  // Whoever asks gets an answer, also that there is none.
  const said = sum.left[0] ?? `${findingsText(0)} in its reward`;
  void window.showInformationMessage(`${basename(launch.fsPath)}: ${said}`);
}

async function tried(file: string, folder: string, commandLine: CommandLine): Promise<FolderSum> {
  const python = pythonPath();
  const sum: FolderSum = JSON.parse(
    await printed(commandLine, ["check", relativePath(folder, file), "--run", "--json"], {
      cwd: folder,
      ...(python === undefined ? {} : { environment: { GRADUS_PYTHON: python } }),
    }),
  );
  return sum;
}

const kinds: readonly RewardFinding["check"][] = ["load", "gold", "probe", "run"];

function rewardFinding(
  { file, cell, line, severity, rule, message }: Finding,
  folder: string,
): RewardFinding {
  const check = kinds.find((kind) => kind === rule) ?? "load";
  const at = { file: resolve(folder, file), line: (line ?? 1) - 1, ...(cell === undefined ? {} : { cell }) };
  return { ...at, severity, check, message };
}
