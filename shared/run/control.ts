/** `control.jsonl`: what the daemon or a command line asks of a run that lives, as its worker reads it. */
import { z } from "zod";
import { readControl } from "./controlFile.ts";
import type { ControlLine } from "./run.ts";

const schema: z.ZodType<ControlLine> = z.union([
  z.object({
    id: z.string(),
    action: z.literal("stop"),
    now: z.boolean().optional(),
    reason: z.string().optional(),
  }),
  z.object({ id: z.string(), action: z.enum(["pause", "continue", "checkpoint"]) }),
  z.object({ id: z.string(), action: z.literal("set"), path: z.string(), value: z.json() }),
]);

/** A line that says nothing we know of; it is acknowledged as refused when it has an id. */
interface UnreadableLine {
  readonly id: string | null;
  readonly text: string;
}

export interface Control {
  /** Lines appended since the last call, in order. A line without its newline is left for the next call. */
  read(): { readonly lines: readonly ControlLine[]; readonly unreadable: readonly UnreadableLine[] };
}

function parse(text: string): ControlLine | UnreadableLine {
  try {
    const value: unknown = JSON.parse(text);
    const line = schema.safeParse(value);
    if (line.success) return line.data;
    const named = z.object({ id: z.string() }).safeParse(value);
    return { id: named.success ? named.data.id : null, text };
  } catch (error) {
    if (error instanceof SyntaxError) return { id: null, text };
    throw error;
  }
}

/**
 * Opens a run's control file.
 * @param skip pass over what is there already: those lines were meant for an attempt that has ended
 */
export function openControl(runFolder: string, skip: boolean): Control {
  let offset = skip ? readControl(runFolder).length : 0;
  return {
    read() {
      const bytes = readControl(runFolder, offset);
      const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
      offset += whole.length;
      const parsed = whole
        .toString("utf8")
        .split("\n")
        .filter((text) => text.trim() !== "")
        .map(parse);
      return {
        lines: parsed.filter((line): line is ControlLine => "action" in line),
        unreadable: parsed.filter((line): line is UnreadableLine => "text" in line),
      };
    },
  };
}

/** What is recorded of such a line. */
export const unreadableText = ({ text }: UnreadableLine): string =>
  `This line of control.jsonl cannot be read: ${text.slice(0, 200)}`;
export const unreadableAction =
  "Write one JSON object a line: id and action (stop, pause, continue, checkpoint, or set with path and value).";
