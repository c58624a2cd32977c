/** One small file of a site. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { UserError } from "../../shared/lib/errors.ts";
import { limits } from "../lib/inputFile.ts";
import { shellWord } from "./shell.ts";
import type { Site } from "./siteOf.ts";
import { pathHere } from "../../shared/lib/fileName.ts";

/** Of the config that a mirrored run was named with. */
export const configFolder = (mirror: string): string => join(mirror, ".config");

/**
 * @param folder where it goes, under its own name
 * @returns its path here
 * @throws UserError where it cannot be read, or is longer than a script may be
 */
export async function fetchFile({ shell, name }: Site, path: string, folder: string): Promise<string> {
  const most = limits.source;
  const { code, stdout, stderr } = await shell.run(`head -c ${most + 1} -- ${shellWord(path)}`);
  const place = `${name}:${path}`;
  const said = stderr.trim().split(": ").at(-1) ?? "";
  const problem = code !== 0 ? said : stdout.length > most ? `it is longer than ${most} bytes` : undefined;
  if (problem !== undefined)
    throw new UserError(`${place} cannot be read: ${problem}.`, {
      file: place,
      code: "site-unread",
      action: "Name the file by its absolute path, or by the one from the home folder there.",
    });
  mkdirSync(folder, { recursive: true });
  const file = join(folder, pathHere(posix.basename(path)));
  writeFileSync(file, stdout);
  return file;
}
