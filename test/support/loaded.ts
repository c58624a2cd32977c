/** Configs written to a folder and loaded from it. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig, type LoadOptions, type LoadedConfig } from "../../server/rules/load.ts";
import { atExit } from "./atExit.ts";

/** A folder of the test file's own, removed when it ends. */
export const folder = mkdtempSync(join(tmpdir(), "gradus-config-"));
atExit(() => rmSync(folder, { recursive: true, force: true }));

/** Writes files and loads the first. */
export function load(files: Readonly<Record<string, string>>, options: LoadOptions = {}): LoadedConfig {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return loadConfig(join(folder, Object.keys(files)[0] ?? ""), options);
}

/** A value of the resolved tree by path; lists of named things by name. */
export function value({ tree }: LoadedConfig, path: string): unknown {
  let at: unknown = tree;
  for (const key of path.split(".")) {
    if (Array.isArray(at))
      at = at.find((item: unknown) => isObject(item) && item["name"] === key) ?? at[Number(key)];
    else at = isObject(at) ? at[key] : undefined;
  }
  return at;
}
const isObject = (at: unknown): at is Record<string, unknown> => typeof at === "object" && at !== null;

export const clean = (loaded: LoadedConfig): LoadedConfig => {
  assert.deepEqual(
    loaded.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message),
    [],
  );
  assert.ok(loaded.config);
  return loaded;
};

export const start =
  "tasks: [{ env: countdown, numbers: [3, 4] }]\nreward: { terms: { correct: equation } }\n";
