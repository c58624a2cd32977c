import { formatCount } from "../../../shared/lib/format.ts";
import { inWords, limits } from "../../lib/inputFile.ts";

/** Values that a config's text may hold, nearly: each has a separator before it. The parser makes 200,000 a second. */
const mostValues = 300_000;

/** Whether to parse a text would keep everybody waiting. Told by its length and its separators, before it is parsed. */
export function isTooLong(text: string): boolean {
  if (text.length > limits.config) return true;
  if (text.length < mostValues) return false;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // , and the end of a line, [ and {
    if (code === 44 || code === 10 || code === 91 || code === 123) values += 1;
  }
  return values > mostValues;
}

export const tooLongWords = `A config may have ${inWords(limits.config)} and about ${formatCount(mostValues)} values. Put what it lists into a dataset file, and name that file under \`tasks\`.`;
