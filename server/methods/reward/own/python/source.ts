/** A Python reward's file as it is loaded, and its hash: runs record it, and know by it whether the file is theirs. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { UserError, readFailure } from "../../../../../shared/lib/errors.ts";
import { readPython } from "../../../../lib/notebook/notebook.ts";
import type { Bundle } from "../../../../lib/own/bundle.ts";

/** @param unsaved the file's text as it is in an editor */
export function pythonSource(file: string, term: string, unsaved?: string): Bundle {
  const text = unsaved ?? textOf(file, term);
  return { text, sha256: createHash("sha256").update(text).digest("hex") };
}

function textOf(file: string, term: string): string {
  if (!existsSync(file))
    throw new UserError(`reward term "${term}": there is no file ${file}`, {
      file,
      code: "reward-missing",
      action: "Check the path: it is relative to the file that names it.",
    });
  try {
    return readPython(file);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`reward term "${term}": the file cannot be read: ${readFailure(error)}`, {
      file,
      code: "reward-build",
      cause: error,
      action: "Name a Python file in `use`.",
    });
  }
}
