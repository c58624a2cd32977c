/** Settings by their ids, typed once. */
import { workspace, type ConfigurationScope } from "vscode";
import { settings } from "../../shared/editor/contributions.ts";

interface SettingTypes {
  readonly nodePath: string;
  readonly pythonPath: string;
  readonly daemonIdleMinutes: number;
  readonly evidenceEnabled: boolean;
  readonly evidenceWindow: number;
  readonly codeLensEnabled: boolean;
  readonly inlayHintsEnabled: boolean;
  readonly rewardsCheckOnSave: boolean;
  readonly notificationsRunEnded: boolean;
  readonly notificationsAlarm: boolean;
  readonly traceServer: string;
}

/** `scope`: the document that it is asked for, where a folder may say otherwise. */
export function setting<Name extends keyof SettingTypes>(
  name: Name,
  fallback: SettingTypes[Name],
  scope?: ConfigurationScope,
): SettingTypes[Name] {
  return workspace.getConfiguration(undefined, scope).get<SettingTypes[Name]>(settings[name], fallback);
}
