import { InvalidArgumentError } from "commander";
import { TextPattern } from "../../lib/texts/textPattern.ts";
import { isPattern } from "../../lib/textSpans.ts";

export function patternOption(text: string): TextPattern {
  if (isPattern(text)) return new TextPattern(text);
  throw new InvalidArgumentError("It must be a regular expression.");
}
