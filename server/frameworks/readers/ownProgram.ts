/** A program near a Hydra file that is started with it: what it makes of the sections only that program knows. */
import { readdirSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { fileReader } from "../text/fileReader.ts";

/** The names of configurations in a program's `@hydra.main(config_name="…")`. */
const namedIn = fileReader(1 << 18, (text) =>
  [...text.matchAll(/\bconfig_name\s*=\s*["']([\w./-]+?)(?:\.ya?ml)?["']/g)].map(([, name = ""]) => name),
);

/** Next to the file, or next to its folder of configurations. */
export function hasOwnProgram(file: string): boolean {
  const name = basename(file, extname(file));
  const folders = [dirname(file), dirname(dirname(file))];
  return folders.some((folder) =>
    programsIn(folder).some((program) => namedIn(program)?.includes(name) === true),
  );
}

/** In a folder with many files nobody keeps a program and its configuration. */
const most = 200;

function programsIn(folder: string): string[] {
  try {
    const names = readdirSync(folder);
    return names.length > most
      ? []
      : names.filter((name) => name.endsWith(".py")).map((name) => join(folder, name));
  } catch {
    return []; // A document that is not on disk has no folder.
  }
}
