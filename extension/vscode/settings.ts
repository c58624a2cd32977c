/** Settings by their ids, typed once. */
import { workspace } from "vscode";
import { settings } from "../../shared/contributions.ts";

interface SettingTypes {
  readonly nodePath: string;
  readonly daemonIdleMinutes: number;
  readonly codeLensEnabled: boolean;
  readonly notificationsRunEnded: boolean;
  readonly traceServer: string;
}

export function setting<Name extends keyof SettingTypes>(
  name: Name,
  fallback: SettingTypes[Name],
): SettingTypes[Name] {
  return workspace.getConfiguration().get<SettingTypes[Name]>(settings[name], fallback);
}
