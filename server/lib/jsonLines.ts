/** Files of one JSON object a line. */
import { UserError, readFailure } from "../../shared/lib/errors.ts";
import { textLines } from "./textLines.ts";
import type { RowPlace } from "../../shared/rollouts/rollouts.ts";

/**
 * What each line of a file says, in order; blank lines and a byte order mark are skipped.
 * @param missing how to tell that the file cannot be read: "the … can't be read", a code, and what to do
 */
export async function jsonLines<Row>(
  file: string,
  parse: (text: string, place: RowPlace) => Row,
  missing: { readonly what: string; readonly code: string; readonly action: string },
): Promise<Row[]> {
  const rows: Row[] = [];
  let line = 0;
  try {
    for (const text of textLines(file)) {
      const place = { file, line: line++ };
      if (text.trim() !== "") rows.push(parse(text.replace(/^\uFEFF/, ""), place));
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { what, code, action } = missing;
    throw new UserError(`the ${what} can't be read: ${readFailure(error)}`, {
      file,
      code,
      cause: error,
      action,
    });
  }
  return rows;
}
