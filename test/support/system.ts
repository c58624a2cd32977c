/** What tests need of a system that Windows lacks, as options of `test`: there they are skipped, and say why. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processStart } from "../../shared/daemon/process.ts";
import { sqliteDriver } from "../../server/lib/natives.ts";

type Options = { readonly skip: string } | Record<string, never>;

const isWindows = process.platform === "win32";
const unlessWindows = (why: string): Options => (isWindows ? { skip: why } : {});

/** Windows makes links for administrators alone, and Wine none. */
function linked(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "gradus-links-"));
  try {
    writeFileSync(join(folder, "file"), "there");
    symlinkSync("file", join(folder, "link"));
    return readFileSync(join(folder, "link"), "utf8") === "there";
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const needs = {
  links: isWindows && !linked() ? { skip: "this system makes no symbolic links for us" } : {},
  pipes: unlessWindows("Windows has no pipes in its folders"),
  modes: unlessWindows("Windows has no modes of files"),
  python: unlessWindows("there is no python3 on Windows' PATH"),
  shell: unlessWindows("Windows has no sh"),
  proc: unlessWindows("Windows has no /proc"),
  openRemoval: unlessWindows("Windows removes no folder in which a file is open"),
  powershell:
    isWindows && processStart(process.pid) === ""
      ? { skip: "PowerShell says nothing of processes here" }
      : {},
  peak: unlessWindows("what a process held at most has all of the library in it, which Wine reads whole"),
  nativeSqlite:
    isWindows && sqliteDriver() === "node-sqlite3-wasm" ? { skip: "there is no native SQLite here" } : {},
} as const satisfies Record<string, Options>;
