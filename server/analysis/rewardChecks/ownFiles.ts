/** The files of reward functions of one's own: read, never run. */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { signatureOf } from "../../config/check/signatures/index.ts";
import type { RewardTermConfig } from "../../core/config/resolved.ts";
import { cellLine, isNotebook, readPython } from "../../lib/notebook/notebook.ts";

/** Absolute; undefined for a method of ours. */
export function ownFile({ term }: Pick<RewardTermConfig, "term">): string | undefined {
  const { file } = term.params;
  return typeof file === "string" ? resolve(term.folder, file) : undefined;
}

/** `line` counts from 0; of a notebook it is that of a cell. */
export interface FilePlace {
  readonly file: string;
  /** Counted from 1, with the cells of text. */
  readonly cell?: number;
  readonly line: number;
}

/** @param line of the file; of a notebook, of the module that its cells are */
export function placeIn(file: string, line: number): FilePlace {
  const place = isNotebook(file) ? cellLine(readPython(file), line) : undefined;
  return { file, line, ...place };
}

/** The function's own line, read from its text; undefined for a method of ours. */
export function placeOf({ term }: Pick<RewardTermConfig, "term">): FilePlace | undefined {
  const { file, export: name } = term.params;
  if (typeof file !== "string" || typeof name !== "string") return undefined;
  const signature = signatureOf(file, name);
  return signature === undefined ? undefined : placeIn(file, signature.line);
}

/** undefined: it is not there, or no file. */
export const sourceOf = (file: string): string | undefined =>
  existsSync(file) && statSync(file).isFile() ? readPython(file) : undefined;
