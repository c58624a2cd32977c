/** The Python process that makes a script's rows: see `rowsHost.py` for what is said to it and what it answers. */
import { z } from "zod";
import { isObject, type JsonObject } from "../../../../shared/lib/json.ts";
import { FramedProcess } from "../../../lib/own/framedProcess.ts";
import { hostFile } from "../../../lib/own/ownProcess.ts";
import { readPlace } from "./readPlace.ts";

interface Make {
  readonly kind: "make";
  /** Absolute. */
  readonly file: string;
  readonly text: string;
  /** The trainer's class, and the place of `train_dataset` among its arguments. */
  readonly trainer: string;
  readonly position: number;
  /** Rows that are wanted. */
  readonly most: number;
}

type ToPython =
  | Make
  | { readonly kind: "rows"; readonly rows: readonly JsonObject[] }
  | { readonly kind: "absent" };

const text = z.string().nullable();
const read = z.object({
  kind: z.literal("read"),
  place: z.string(),
  name: text,
  split: text,
  revision: text,
});

/** Lines count from 1. */
const answer = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("made"),
    rows: z.array(z.custom<JsonObject>(isObject)).min(1),
    /** Of the first statement that makes them. */
    line: z.number().int(),
    /** What is not as it would be: a filter that needs a tokenizer. */
    left: z.array(z.object({ line: z.number().int().nullable(), what: z.string() })),
    /** Whether they are made of rows of ours, since the script's are not here. */
    /** The data set that sample rows stand in for. */
    sample: z.string().max(300).nullable(),
  }),
  z.object({ kind: z.literal("refused"), what: z.string(), line: z.number().int().nullable() }),
]);

export type MadeRows = z.infer<typeof answer>;

export class RowsProcess extends FramedProcess<ToPython> {
  constructor(python: string, folder: string) {
    super(python, hostFile("rowsHost.py", process.env["GRADUS_PYTHON_ROWS_HOST"]), folder);
  }

  /** @param seconds until the rows are there. @throws NoAnswer */
  async make(
    question: Omit<Make, "kind">,
    seconds: number,
    signal: AbortSignal | undefined,
  ): Promise<MadeRows> {
    await this.version();
    const answers: MadeRows[] = [];
    await this.converse({ kind: "make", ...question }, seconds, signal, (message) => {
      const asked = read.safeParse(message);
      if (asked.success) {
        const rows = readPlace(asked.data);
        this.send(rows === undefined ? { kind: "absent" } : { kind: "rows", rows });
        return "other";
      }
      const { data } = answer.safeParse(message);
      if (data === undefined) return "other";
      answers.push(data);
      return "last";
    });
    return answers[0]!;
  }
}
