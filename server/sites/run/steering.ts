/** What a run on a site is asked while it goes on. */
import { z } from "zod";
import { readControl } from "../../../shared/run/controlFile.ts";

const lineSchema = z.looseObject({ id: z.string(), action: z.string(), now: z.boolean().optional() });
export type Asked = z.output<typeof lineSchema>;

/** Lines of the control file, each once. */
export class Steering {
  private offset: number;

  /** @param later whether what was asked of an earlier attempt is there */
  constructor(
    private readonly runFolder: string,
    later: boolean,
  ) {
    this.offset = later ? readControl(runFolder).length : 0;
  }

  next(): Asked[] {
    const bytes = readControl(this.runFolder, this.offset);
    const end = bytes.lastIndexOf(10) + 1;
    this.offset += end;
    return bytes.subarray(0, end).toString("utf8").split("\n").flatMap(asked);
  }
}

function asked(line: string): Asked[] {
  if (line.trim() === "") return [];
  try {
    const read = lineSchema.safeParse(JSON.parse(line));
    return read.success ? [read.data] : [];
  } catch {
    return []; // no line of ours
  }
}
