/** One Python process that runs a user's reward: see `rewardHost.py` for what is said to it and what it answers. */
import { z } from "zod";
import { branchExits, branchKinds } from "../../../../../shared/rollouts/coverage.ts";
import type { Json } from "../../../../../shared/lib/json.ts";
import { FramedProcess } from "../../../../lib/own/framedProcess.ts";
import { hostFile, type Part } from "../../../../lib/own/ownProcess.ts";
import type { Reached } from "../reached.ts";
import type { BatchCall } from "./bind.ts";
import type { TakenParameter } from "./convention.ts";

type ToPython =
  | {
      readonly kind: "load";
      readonly file: string;
      readonly text: string;
      readonly name: string;
      /** Whether its calls are to be asked about: it runs at a fraction of its speed then. */
      readonly cover?: boolean;
    }
  | { readonly kind: "reached" }
  | {
      readonly kind: "rows";
      readonly id: number;
      readonly rows: readonly Readonly<Record<string, Json | undefined>>[];
      /** Of a returned tuple the first is the reward. */
      readonly first: boolean;
      /** Calls of an asynchronous function at a time. */
      readonly together: number;
      /** Of one such call. */
      readonly seconds: number;
    }
  | (BatchCall & {
      readonly kind: "batch";
      readonly id: number;
      readonly count: number;
      /** One call for each row instead of one for all. */
      readonly each: boolean;
    });

/** What the host says of one rollout. */
export interface RowAnswer {
  readonly at: number;
  readonly value?: number | null;
  readonly components?: Readonly<Record<string, number>>;
  readonly error?: string;
}

type Loaded =
  | {
      readonly kind: "loaded";
      readonly parameters: readonly TakenParameter[];
      readonly asynchronous: boolean;
    }
  | { readonly kind: "refused"; readonly message: string };

/** As the host counts: lines from 1, columns from 0. */
const reachedAnswer = z.object({
  kind: z.literal("reached"),
  rollouts: z.number(),
  files: z.array(
    z.object({
      file: z.string(),
      lines: z.array(z.tuple([z.number(), z.number()])),
      branches: z.array(
        z.tuple([z.number(), z.number(), z.enum(branchKinds), z.enum(branchExits), z.number()]),
      ),
    }),
  ),
  returned: z.tuple([z.string(), z.number()]).nullable(),
});

const isLoaded = (message: object): message is Loaded =>
  "kind" in message && (message.kind === "loaded" || message.kind === "refused");
const isRow = (message: object): message is RowAnswer =>
  "at" in message && Number.isInteger(message.at) && ("error" in message || "value" in message);

export class PythonProcess extends FramedProcess<ToPython> {
  constructor(python: string, folder: string) {
    super(python, pythonHost(), folder);
  }

  /** @param cover whether what its calls reach is counted */
  async load(file: string, text: string, name: string, seconds: number, cover = false): Promise<Loaded> {
    await this.version();
    const answers: Loaded[] = [];
    const question = { kind: "load", file, text, name, ...(cover ? { cover } : {}) } as const;
    await this.converse(question, seconds, undefined, (message) => {
      if (!isLoaded(message)) return "other";
      answers.push(message);
      return "last";
    });
    return answers[0]!;
  }

  /** @param seconds until the next answer of a row */
  async score(
    question: Extract<ToPython, { kind: "rows" | "batch" }>,
    seconds: number,
    take: (answer: RowAnswer) => void,
  ): Promise<void> {
    await this.converse(question, seconds, undefined, (message): Part => {
      if (message["id"] !== question.id) return "other";
      if (isRow(message)) take(message);
      return message["done"] === true ? "last" : "more";
    });
  }

  /** What the calls since the last such question have reached, of a text that was loaded with `cover`. */
  async reached(seconds: number): Promise<Reached> {
    const answers: Reached[] = [];
    await this.converse({ kind: "reached" }, seconds, undefined, (message) => {
      const { data } = reachedAnswer.safeParse(message);
      if (data === undefined) return "other";
      const { rollouts, files, returned } = data;
      answers.push({
        rollouts,
        files: files.map(({ file, lines, branches }) => ({
          file,
          lines: lines.map(([line, count]) => ({ line: line - 1, rollouts: count })),
          branches: branches.map(([line, character, kind, exit, count]) => ({
            line: line - 1,
            character,
            kind,
            exit,
            rollouts: count,
          })),
        })),
        returned: returned === null ? undefined : { file: returned[0], line: returned[1] - 1 },
      });
      return "last";
    });
    return answers[0]!;
  }
}

/** The one file that runs under the user's Python. */
export const pythonHost = (): string => hostFile("rewardHost.py", process.env["GRADUS_PYTHON_HOST"]);
