/** Values written into a config's text, in whichever style it is written: what a fix of a verdict does. Pure. */
import { dirname } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import type { ParamsOf, configSet } from "../../../shared/protocol/protocol.ts";
import { SourceEdits, pathOf } from "../../config/text/edits.ts";
import { parseSource } from "../../config/text/source.ts";
import { applyEdits } from "../../config/text/textEdits.ts";

/**
 * @returns the text with every value set
 * @throws UserError where the text gives no safe place for one: it comes from an alias, a preset or another file
 */
export function setInConfig({ file, text, set }: ParamsOf<typeof configSet>): string {
  let now = text;
  for (const { path, value } of set) {
    const { root } = parseSource(file, now, { file, folder: dirname(file), via: [], layer: "file" });
    const fix = new SourceEdits(now, root).set(pathOf(path), JSON.stringify(value), path);
    if (fix === undefined)
      throw new UserError(`This file has no safe place to set \`${path}\`.`, {
        file,
        action: `Write \`${path}: ${JSON.stringify(value)}\` where the value comes from.`,
      });
    now = applyEdits(now, fix.edits);
  }
  return now;
}
