/** Rollouts that a trainer has left in a folder that is checked: `gradus runs import` opens them. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { basename, dirname, resolve } from "node:path";
import { datasetLines } from "../../core/datasetLines.ts";
import type { FileKind } from "../../config/configKind.ts";
import { liesIn } from "../../../shared/lib/liesIn.ts";
import { writesTo } from "../../frameworks/readers/writesTo.ts";
import { filesBelow } from "./files.ts";
import { statsOf } from "../../lib/inputFile.ts";

export interface DumpedRollouts {
  /** As the person would write it from here. */
  readonly folder: string;
  readonly framework: "verl" | "trl";
  readonly steps: number;
  /** The configuration that they came from, as far as its place says. */
  readonly config: string;
  /** What opens them. */
  readonly command: string;
}
interface Found extends DumpedRollouts {
  /** The folder that is opened. */
  readonly from: string;
}

export const importCommand = (folder: string, config: string): string =>
  `gradus runs import ${copiedWord(folder)} --config ${copiedWord(config)}`;

interface CheckedFile {
  readonly file: string;
  readonly kind: FileKind;
}

/** verl's `rollout_data_dir` has a file a step, TRL's `completions` one a logged step. */
const forms = [
  { framework: "verl", file: /^\d+\.jsonl$/, folder: /^/ },
  { framework: "trl", file: /^completions_\d+\.parquet$/, folder: /^completions$/ },
] as const;

/**
 * Below the folders among the words, each with the configuration that names its folder, else the nearest above it.
 * @param most files that are looked at below a folder
 */
export function dumpedRollouts(
  words: readonly string[],
  checked: readonly CheckedFile[],
  most?: number,
): readonly Found[] {
  if (!checked.some(({ kind }) => kind === "verl" || kind === "trl")) return [];
  const folders = words.filter((word) => statsOf(word)?.isDirectory());
  const files = new Set(folders.flatMap((folder) => filesBelow(folder, most)));
  const byFolder = new Map<string, string[]>();
  for (const file of files) {
    const inside = byFolder.get(dirname(file)) ?? [];
    byFolder.set(dirname(file), inside);
    inside.push(file);
  }
  return [...byFolder].flatMap(([folder, inside]) => dumpIn(folder, inside, checked) ?? []);
}

function dumpIn(
  folder: string,
  files: readonly string[],
  checked: readonly CheckedFile[],
): Found | undefined {
  for (const form of forms) {
    const steps = files.filter((file) => form.file.test(basename(file)));
    const [first] = steps;
    if (first === undefined || !form.folder.test(basename(folder))) continue;
    // `validation_data_dir`: what the run was measured with comes along with its rollouts.
    if (/val|eval|test/i.test(basename(folder))) continue;
    if (form.framework === "verl" && !isDump(first)) continue;
    const config = configOf(
      folder,
      checked.filter(({ kind }) => kind === form.framework),
    );
    if (config === undefined) continue;
    const from = importedFolder(folder, config);
    const command = importCommand(from, config);
    return { folder, framework: form.framework, steps: steps.length, config, command, from };
  }
  return undefined;
}

/** A line of verl's `_dump_generations`. */
function isDump(file: string): boolean {
  const row = datasetLines(file)?.[0]?.row;
  return row !== undefined && ["input", "output", "score"].every((key) => key in row);
}

/** The metrics lie next to `rollouts` and `completions`; a folder with the script in it is the whole project. */
function importedFolder(folder: string, config: string): string {
  const above = dirname(folder);
  const own = ["rollouts", "completions"].includes(basename(folder)) && !liesIn(config, above);
  return own ? above : folder;
}

/** The only one that names the folder, else the innermost above it, else the only one of all. */
function configOf(folder: string, checked: readonly CheckedFile[]): string | undefined {
  const naming = checked.filter(({ file }) => writesTo(file, folder));
  if (naming.length === 1) return naming[0]!.file;
  const above = checked
    .filter(({ file }) => liesIn(folder, dirname(file)))
    .sort((a, b) => dirname(resolve(b.file)).length - dirname(resolve(a.file)).length);
  return above[0]?.file ?? (checked.length === 1 ? checked[0]!.file : undefined);
}
