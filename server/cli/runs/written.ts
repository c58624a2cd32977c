/** What a command writes into a place of its own: complete or not at all, and never over something else. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError, messageOf } from "../../../shared/lib/errors.ts";
import { putInPlace } from "../../../shared/lib/putInPlace.mjs";

/** Writes next to the place and renames. @returns its size in bytes */
export function written(place: string, write: (draft: string) => void): number {
  if (existsSync(place) && !(statSync(place).isDirectory() && readdirSync(place).length === 0))
    throw new UserError(`${place} exists already.`, {
      file: place,
      code: "export-exists",
      action: "Choose another path, or remove what is there.",
    });
  const draft = join(dirname(place), `.${basename(place)}.${process.pid}.part`);
  try {
    mkdirSync(dirname(place), { recursive: true });
    write(draft);
    rmSync(place, { recursive: true, force: true });
    putInPlace(draft, place);
    return sizeOf(place);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw notWritten(place, error);
  }
}

export const notWritten = (place: string, error: unknown): UserError =>
  error instanceof UserError
    ? error
    : new UserError(`The export cannot be written: ${messageOf(error)}.`, {
        file: place,
        code: "write",
        cause: error,
        action: "Free space on this disk, or choose a folder that you may write to.",
      });

/** Bytes of a file, or of all in a folder. */
export const sizeOf = (path: string): number =>
  statSync(path).isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
    : statSync(path).size;
