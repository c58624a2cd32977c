/**
 * One way to name a model for every command: a path (a model's folder or .gguf file, a checkpoint, a run's folder), or a
 * run of the store by its id, the beginning of it, its name or `last`; a run may be followed by `@best`, `@last` or
 * `@<step>`.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { resolveCheckpoint } from "../../run/checkpoint/checkpoints.ts";
import { readRunFile, runFolder, runIds } from "../../store/files.ts";
import { storeOf } from "./store.ts";

export const checkpointWords =
  "a checkpoint, a run, RUN@best, RUN@<step>, a Hugging Face folder or a .gguf file";

/** The folder or file with the weights. @throws UserError where the words name none */
export function findCheckpoint(words: string, store?: string): string {
  const [, before, which = ""] = /^(.+?)(@(?:best|last|\d+))?$/.exec(words) ?? [];
  if (before === undefined || existsSync(words) || existsSync(before)) return resolveCheckpoint(words);
  const run = runNamed(before, storeOf(store));
  return resolveCheckpoint(run === undefined ? words : `${run}${which}`);
}

/** The folder of the run that the words name, by themselves or as a path; undefined where they name a checkpoint. */
export function findRun(words: string, store?: string): string | undefined {
  if (existsSync(words)) return readRunFile(resolve(words)) === null ? undefined : resolve(words);
  return /@(?:best|last|\d+)$/.test(words) ? undefined : runNamed(words, storeOf(store));
}

/** The folder of the run that is meant, the newest of its name; undefined where none is. */
function runNamed(words: string, store: string): string | undefined {
  const runs = runIds(store)
    // The folder says which run it is, whatever its file says.
    .flatMap((id) => {
      const file = readRunFile(runFolder(store, id));
      return file === null ? [] : [{ ...file, id }];
    })
    .sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  const beginning = runs.filter(({ id }) => id.startsWith(words));
  const found =
    runs.find(({ id }) => id === words) ??
    (words === "last" ? runs.at(-1) : undefined) ??
    runs.findLast(({ name }) => name === words) ??
    beginning[0];
  if (found?.id !== words && found === beginning[0] && beginning.length > 1)
    throw new UserError(
      `${beginning.length} runs begin with ${words}: ${beginning
        .slice(0, 5)
        .map(({ id }) => id)
        .join(", ")}.`,
      { code: "unknownRun", action: "Write more characters of the id." },
    );
  return found === undefined ? undefined : runFolder(store, found.id);
}
