/** Plain text cut into what a model has to predict. */
import { createHash } from "node:crypto";
import { readText } from "../../lib/inputFile.ts";
import { messageOf, readFailure, UserError } from "../../../shared/lib/errors.ts";
import { parseShallow } from "../../../shared/lib/json.ts";
import { splitOf, type Split } from "../../core/split.ts";

/** What separates the units of a text: they are cut after it, so that together they are the text again. */
const ends = {
  sentence: /[.!?]["')\]]*\s+|\n{2,}|。/gu,
  line: /\n+/g,
  paragraph: /\n[ \t]*\n\s*/g,
  word: /\s+/g,
} as const;
type SegmentUnit = keyof typeof ends;

/** The text in order, each piece with what ends it; nothing is lost. */
export function unitsOf(text: string, unit: SegmentUnit): string[] {
  const found: string[] = [];
  let from = 0;
  for (const match of text.matchAll(ends[unit])) {
    const to = match.index + match[0].length;
    if (text.slice(from, to).trim() !== "") {
      found.push(text.slice(from, to));
      from = to;
    }
  }
  if (text.slice(from).trim() !== "") found.push(text.slice(from));
  return found;
}

/** A run of units that lies as a whole on one side of the split: nothing held out is ever context of what trains. */
export interface Block {
  readonly id: string;
  readonly split: Split;
  readonly units: readonly string[];
}

/** @param most characters a block has about, at least */
export function blocksOf(documents: readonly string[], unit: SegmentUnit, most: number): Block[] {
  return documents.flatMap((document) => {
    const blocks: string[][] = [];
    let size = Number.POSITIVE_INFINITY;
    for (const one of unitsOf(document, unit)) {
      if (size >= most) {
        blocks.push([]);
        size = 0;
      }
      blocks.at(-1)!.push(one);
      size += one.length;
    }
    return blocks.map((units): Block => {
      const id = digest(units.join(""));
      return { id, split: splitOf(id), units };
    });
  });
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Documents of a file: each line's `text` of .jsonl; any other file is one document. @throws UserError */
export function documentsOf(file: string): string[] {
  let text: string;
  try {
    text = readText(file).replace(/^\uFEFF/, "");
  } catch (error) {
    throw new UserError(`the corpus can't be read: ${readFailure(error)}`, {
      file,
      code: "corpus-missing",
      cause: error,
      action: "Check the path; it is relative to the config's folder.",
    });
  }
  if (!file.endsWith(".jsonl")) return [text];
  return text
    .split("\n")
    .flatMap((line, number) => (line.trim() === "" ? [] : [documentOf(line, number, file)]));
}

function documentOf(line: string, number: number, file: string): string {
  const refused = (message: string): UserError =>
    new UserError(message, {
      file,
      line: number,
      character: 0,
      code: "corpus-line",
      action: 'Write one JSON object with "text" on each line.',
    });
  let value: unknown;
  try {
    value = parseShallow(line);
  } catch (error) {
    throw refused(`the line is not JSON: ${messageOf(error)}`);
  }
  if (typeof value === "object" && value !== null && "text" in value && typeof value.text === "string")
    return value.text;
  throw refused('the line has no "text"');
}
