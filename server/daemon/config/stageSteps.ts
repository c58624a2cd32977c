/** A stage of a run made longer or shorter: as an edit of the run's config, while its text is the run's own. */
import { dirname } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import type { StageSteps } from "../../../shared/protocol/protocol.ts";
import { SourceEdits } from "../../config/text/edits.ts";
import { parseSource } from "../../config/text/source.ts";

interface StageChange {
  /** The config as an editor has it. */
  readonly text: string;
  readonly stage: string;
  /** How many steps the run planned for it, and how many it shall have. */
  readonly was: number;
  readonly steps: number;
}

/** @throws UserError where the file is not the run's any more, or has the number elsewhere */
export function stageSteps(
  { file, authored }: { readonly file: string; readonly authored: string },
  { text, stage, was, steps }: StageChange,
): StageSteps {
  if (text !== authored)
    throw new UserError("The config has changed since this run, so its stages may be elsewhere.", {
      file,
      action: "Change the stage's steps in the file, or run it again and drag there.",
    });
  const { root } = parseSource(file, text, { file, folder: dirname(file), via: [], layer: "file" });
  const edits = new SourceEdits(text, root);
  const path = ["stages", stage, "steps"];
  const written = edits.at(path);
  const fix =
    written?.kind === "scalar" && written.value === was
      ? edits.set(path, String(steps), `${stage}: ${steps} steps`)
      : undefined;
  const [edit] = fix?.edits ?? [];
  if (edit === undefined)
    throw new UserError(`This file does not set the ${was} steps of stage ${stage} as a number.`, {
      file,
      action: "They come from a preset, an alias or the command line: change them there.",
    });
  return { file, range: edit.range, newText: edit.newText };
}
