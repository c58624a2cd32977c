import { resolve } from "node:path";
import type { z } from "zod";
import { referenceOf } from "../core/references.ts";
import type { StageBody } from "../core/config/resolved.ts";
import { isSchema, kindOf, unwrapped } from "../config/check/values.ts";
import { isReadable, sibling, unusable } from "./nearFile.ts";
import type { ConfigModel, StageView } from "../config/check/model.ts";
import { firstTime, mine, placeOf, reportAt, type Rule } from "./rule.ts";
import type { Choice } from "../core/declaration.ts";

type FileReadingChoice = Choice<"estimator" | "guidance_source">;

/** Parts of a stage that read files of their own, with where they are. */
const readersOf = ({ curriculum, guidance }: StageBody): [readonly string[], FileReadingChoice][] => [
  [["curriculum", "estimator"], curriculum.estimator],
  [["guidance", "source"], guidance.source],
];

interface NamedFile {
  readonly path: readonly string[];
  readonly absolute: string;
}

const namesFile = (schema: z.ZodType): boolean => {
  const inner = unwrapped(schema);
  const kind = kindOf(inner);
  return kind.kind === "array" ? namesFile(kind.element) : referenceOf(inner)?.to === "file";
};

/** The files that a choice's parameters name, alone or in lists. */
const filesOf = (path: readonly string[], { declaration, params, folder }: FileReadingChoice): NamedFile[] =>
  Object.entries(declaration.params.shape).flatMap(([key, schema]) => {
    if (!isSchema(schema) || !namesFile(schema)) return [];
    const value = params[key];
    const names: readonly unknown[] = Array.isArray(value) ? value : [value];
    return names.flatMap((name, index) =>
      typeof name === "string"
        ? [
            {
              path: [...path, key, ...(Array.isArray(value) ? [String(index)] : [])],
              absolute: resolve(folder, name),
            },
          ]
        : [],
    );
  });

const withoutPilots =
  'A `surrogate` is fitted on pilot runs, and the config names no file of them: write one run per line, {"weights": {"<arm>": 0.5, …}, "score": 0.42}, and name the file with `pilots`.';

/** Files that an estimator or a source of help reads are there. */
export const methodFile: Rule = {
  id: "method-file",
  title: "Method that reads a missing file",
  why: "Pilot runs of a `surrogate`, hints and teachers' answers may come from files. A path is relative to the folder of the file that contains it. A run reads these files before its first step, and would stop there.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages)
      for (const [path, choice] of readersOf(view.config.body))
        if (fresh(choice)) {
          if (choice.declaration.name === "surrogate" && choice.params["pilots"] === undefined)
            reportAt(model, view, methodFile, [path], { message: withoutPilots });
          for (const named of filesOf(path, choice))
            if (!isReadable(named.absolute)) complain(model, view, named);
        }
  },
};

function complain(model: ConfigModel, view: StageView, { path, absolute }: NamedFile): void {
  const { file, root } = model;
  const at = mine(file, placeOf(view.body, ...path)) ?? root.origin;
  const { hint, fixes } = sibling(absolute, at);
  reportAt(model, view, methodFile, [path], {
    message: `${unusable(absolute, file)}.${hint}`,
    fixes,
  });
}
