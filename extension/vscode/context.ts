/** Context keys, by which the manifest's `when` clauses show and hide what does not apply. */
import { commands } from "vscode";
import { contextKeys } from "../../shared/editor/contributions.ts";

const known = new Map<string, string | boolean>();

export async function setContext(name: keyof typeof contextKeys, value: string | boolean): Promise<void> {
  const key = contextKeys[name];
  if (known.get(key) === value) return;
  known.set(key, value);
  await commands.executeCommand("setContext", key, value);
}
