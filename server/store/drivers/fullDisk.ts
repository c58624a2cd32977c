/** A database that cannot grow: known by SQLite's answer. */
import { UserError } from "../../../shared/lib/errors.ts";

/** Of the error that says so. */
export const diskFull = "disk-full";

export function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return /^SQLITE_FULL/.test(code) || error.message.includes("database or disk is full");
}

/** The same error, or where the disk is full what to do about it. */
export const inWords = (store: string, error: unknown): unknown =>
  isFull(error)
    ? new UserError(`The disk of ${store} is full.`, {
        file: store,
        code: diskFull,
        cause: error,
        action: "Free some space, then try again. What is recorded is kept.",
      })
    : error;
