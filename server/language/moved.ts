/** While a text is broken, what was found in it before still holds of the lines that have not changed. */
import type { Position, Range } from "../lib/lines.ts";
import { perObject } from "../lib/perObject.ts";
import type { OpenConfig } from "./documents.ts";

/** Where a line of the earlier text is now; undefined: it lies in what has changed. */
type Moved = (line: number) => number | undefined;

/** Of two texts that differ in one place. */
function movedLines(before: string, now: string): Moved {
  const [old, fresh] = [before.split(/\r?\n/), now.split(/\r?\n/)];
  const shorter = Math.min(old.length, fresh.length);
  let above = 0;
  while (above < shorter && old[above] === fresh[above]) above += 1;
  let below = 0;
  while (below < shorter - above && old.at(-1 - below) === fresh.at(-1 - below)) below += 1;
  const by = fresh.length - old.length;
  return (line) => (line < above ? line : line >= old.length - below ? line + by : undefined);
}

interface Steady {
  /** The config as it last was without a syntax error. */
  readonly open: OpenConfig;
  position(at: Position): Position | undefined;
  range(range: Range): Range | undefined;
}

/** What identifies a config's places, and where they are in the open text. */
export const steady = perObject((open: OpenConfig): Steady => {
  const { whole, wholeText } = open;
  if (whole === open.loaded) return { open, position: (at) => at, range: (range) => range };
  const moved = movedLines(wholeText, open.text);
  const position = ({ line, character }: Position): Position | undefined => {
    const now = moved(line);
    return now === undefined ? undefined : { line: now, character };
  };
  return {
    open: { ...open, text: wholeText, root: whole.source, loaded: whole },
    position,
    range: (range) => {
      const [start, end] = [position(range.start), position(range.end)];
      return start && end && { start, end };
    },
  };
});
