/** The Python that each Python reward of a config runs under, and whether it has what the file imports. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { needs } from "../../config/needs.ts";
import { resolve } from "node:path";
import { z } from "zod";
import type { RewardTermConfig } from "../../core/config/resolved.ts";
import { interpreterFor } from "../../lib/own/interpreter.ts";
import { isNotebook } from "../../lib/notebook/notebook.ts";
import { pythonHost } from "../../methods/reward/own/python/pythonProcess.ts";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import { run, unseen, type Check } from "./checks.ts";

const paramsSchema = z.object({ file: z.string(), export: z.string(), python: z.string().optional() });
const importsSchema = z.object({ version: z.string(), found: z.record(z.string(), z.boolean()) });

/** None for a config that cannot be read: the check of its memory says so. */
export function checkPythonRewards(file: string): Promise<Check[]> {
  const { config } = loadFile(resolve(file), { needs: needs.scored });
  const terms = (config?.stages ?? []).flatMap(({ body }) => body.reward.terms);
  const own = new Map(
    terms.filter(({ term }) => term.declaration.name === "python").map((term) => [term.name, term]),
  );
  return Promise.all([...own.values()].map(checkTerm));
}

async function checkTerm({ name: term, term: choice }: RewardTermConfig): Promise<Check> {
  const name = `reward ${term}`;
  const params = paramsSchema.parse(choice.params);
  const file = resolve(choice.folder, params.file);
  try {
    const { path, from } = interpreterFor({ named: params.python, folder: choice.folder, file });
    // That Python reads the file itself, and a notebook's is no Python.
    if (isNotebook(file))
      return { name, status: "ok", detail: `${path} (from ${from}); a notebook's imports are not looked at` };
    const { status, stdout, stderr } = await run(path, [pythonHost(), "--imports", file, params.export]);
    if (status !== 0)
      return missing(name, `${path} (from ${from}): ${stderr.split("\n").at(-1) ?? ""}`, "gradus validate");
    const { version, found } = importsSchema.parse(JSON.parse(stdout));
    const python = `Python ${version}, ${path} (from ${from})`;
    const absent = Object.keys(found).filter((one) => found[one] === false);
    return absent.length === 0
      ? { name, status: "ok", detail: `${python}, has all that it imports` }
      : missing(
          name,
          `${python}, lacks ${absent.join(", ")}`,
          `${copiedWord(path)} -m pip install ${absent.join(" ")}`,
        );
  } catch (error) {
    return unseen(name, error);
  }
}

const missing = (name: string, detail: string, fix: string): Check => ({
  name,
  status: "missing",
  detail,
  fix,
});
