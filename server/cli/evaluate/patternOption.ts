import { InvalidArgumentError } from "commander";
import { isPattern } from "../../lib/textSpans.ts";

export function patternOption(text: string): RegExp {
  if (isPattern(text)) return new RegExp(text);
  throw new InvalidArgumentError("It must be a regular expression.");
}
