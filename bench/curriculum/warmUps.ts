/** Checkpoints that the sides begin from, and the data they read: made once a seed, kept outside the repository. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Random } from "../../server/lib/random.ts";
import { command, run } from "./gradus.ts";
import { sideFile, warmUp, warmUpFingerprint } from "./settings.ts";

export const cache =
  process.env["GRADUS_BENCH_CACHE"] ?? join(homedir(), ".cache", "gradus-bench", "curriculum");

/** Written whole or not at all. */
export function keepText(path: string, text: string): string {
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return path;
}

export const jsonLines = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");

export const randomText = (letters: number, random: Random): string =>
  Array.from({ length: letters }, () => String.fromCharCode(97 + random.integer(26))).join("");
export const reversed = (text: string): string => [...text].reverse().join("");

/** The folder of the model that all sides of a seed begin from. */
export async function warmedUp(seed: number, store: string): Promise<string> {
  const kept = join(cache, `${warmUp}-${warmUpFingerprint()}-${seed}`);
  if (existsSync(kept)) return kept;
  mkdirSync(cache, { recursive: true });
  let [id, folder] = ["", ""];
  for await (const line of run({ file: sideFile(warmUp), seed, store, set: [] }))
    if (line.type === "started") [id, folder] = [line.run, line.folder];
  const checkpoints = join(folder, "checkpoints");
  const last = readdirSync(checkpoints).sort((a, b) => Number(b) - Number(a))[0]!;
  cpSync(join(checkpoints, last, "policy"), `${kept}.new`, { recursive: true });
  renameSync(`${kept}.new`, kept);
  await command("runs", "delete", id, "--store", store, "--json");
  return kept;
}
