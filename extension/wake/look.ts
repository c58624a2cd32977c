/**
 * Whether a folder holds a file that starts a known trainer, by its content: a bounded look, which ends at the first. A
 * bundle of its own (esbuild.mjs) that loads nothing else, so that folders of other people cost next to nothing.
 */
import { open, opendir } from "node:fs/promises";
import { join } from "node:path";
import { trainerIn } from "../../shared/editor/trainers.ts";
import type { TrainerThat } from "../../shared/run/trainers.ts";

interface Bounds {
  /** Files that are read. */
  readonly files: number;
  /** Of each. */
  readonly bytes: number;
  /** Folders below the first. */
  readonly depth: number;
  /** Names that are listed, all together and of one folder: data sets have a million. */
  readonly names: number;
  readonly namesOfOne: number;
}
const bounds: Bounds = { files: 200, bytes: 64 * 1024, depth: 4, names: 5_000, namesOfOne: 1_000 };

export interface Launch {
  readonly trainer: TrainerThat<"checked">;
  /** Absolute. */
  readonly file: string;
}

/** Forms in which launches are written, the likeliest first. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/\.(?:sh|bash|slurm|sbatch)$/, "shellscript"],
  [/\.ya?ml$/, "yaml"],
  [/\.(?:py|ipynb)$/, "python"],
];
const passedOver = /^(?:\..*|node_modules|__pycache__|site-packages|dist|out)$/;
/** What shows that a folder is an environment of Python's. */
const environments = ["pyvenv.cfg", "conda-meta"];

/** The first launch, from the folder downwards; undefined: there is none within the bounds. */
export async function firstLaunch(folder: string, most: Bounds = bounds): Promise<Launch | undefined> {
  let [names, files] = [most.names, most.files];
  let level: readonly string[] = [folder];
  for (let depth = 0; depth <= most.depth && level.length > 0; depth++) {
    const below: string[] = [];
    const found: (readonly string[])[] = [];
    for (const at of level) {
      if (names <= 0) break;
      const listed = await list(at, Math.min(names, most.namesOfOne));
      names -= listed.count;
      below.push(...listed.folders);
      found.push(listed.files);
    }
    for (const [form, language] of forms)
      for (const file of found.flat().filter((name) => form.test(name))) {
        if (files-- <= 0) return undefined;
        const trainer = trainerIn(await head(file, most.bytes), language);
        if (trainer !== undefined) return { trainer, file };
      }
    level = below;
  }
  return undefined;
}

interface Listed {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly count: number;
}

async function list(folder: string, most: number): Promise<Listed> {
  const files: string[] = [];
  const folders: string[] = [];
  let count = 0;
  try {
    for await (const entry of await opendir(folder)) {
      if (++count > most) break;
      if (environments.includes(entry.name)) return { files: [], folders: [], count };
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !passedOver.test(entry.name)) folders.push(path);
      else if (entry.isFile()) files.push(path);
    }
  } catch {
    // A folder that may not be read, or has just gone, holds nothing that a person could be shown.
  }
  return { files: files.sort(), folders: folders.sort(), count };
}

async function head(file: string, bytes: number): Promise<string> {
  try {
    const opened = await open(file);
    try {
      const { buffer, bytesRead } = await opened.read(Buffer.alloc(bytes), 0, bytes, 0);
      const text = buffer.toString("utf8", 0, bytesRead);
      return file.endsWith(".ipynb") ? written(text) : text;
    } finally {
      await opened.close();
    }
  } catch {
    return ""; // As with folders.
  }
}

/** The lines of a notebook's cells, which its JSON has as strings. */
const written = (json: string): string =>
  json.replace(/^[ \t]*"((?:[^"\\\n]|\\.)*)",?[ \t]*$/gm, (_, line: string) => line.replace(/\\n$/, ""));
