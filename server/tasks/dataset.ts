import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { UserError, messageOf, readFailure } from "../../shared/errors.ts";
import type { Json, JsonObject } from "../../shared/json.ts";
import { taskSource, type MethodContext } from "../config/declaration.ts";
import type { Random, Saved, Task, TaskSource } from "../seams.ts";
import { shuffled } from "./countdownExpressions.ts";
import { splitOf, type Split } from "./split.ts";

const params = z.object({
  dataset: z.string().min(1).describe("JSONL file, one task a line; relative to this config."),
  prompt: z
    .string()
    .default("{prompt}")
    .describe("Template of the prompt; `{field}` takes a field of the line."),
  begin: z
    .string()
    .optional()
    .describe("Template of how the response begins: given to the model, the rest is its own to write."),
  answer: z.string().optional().describe("Template of the reference answer, e.g. `{answer}`."),
  solution: z
    .string()
    .optional()
    .describe("Template of a written solution, for warm-up; default: the answer."),
  difficulty: z.string().optional().describe("Field whose value is the task's arm."),
  shuffle: z.boolean().default(true).describe("A new order each epoch; else the file's."),
  epochs: z
    .number()
    .positive()
    .optional()
    .describe("Passes over the file before the source is empty; default: without end."),
  max_prompt: z.number().int().positive().optional().describe("Longest prompt, in tokens."),
  overlong: z
    .enum(["filter", "left_truncate", "error"])
    .default("filter")
    .describe("What happens to a longer prompt."),
});
type Params = z.output<typeof params>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** `{field}` and `{field.inner}` places; a field the line lacks is an error that names the line. */
function fillFrom(template: string, row: JsonObject, file: string, line: number): string {
  return template.replace(/\{([\w.-]+)\}/g, (_, path: string) => {
    const value = path
      .split(".")
      .reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), row);
    if (value !== undefined) return textOf(value);
    throw new UserError(`the line has no field "${path}"; it has ${Object.keys(row).join(", ") || "none"}`, {
      file,
      line,
      character: 0,
      code: "dataset-field",
      action: "Change the template in the config, or add the field to every line.",
    });
  });
}

function parse(text: string, file: string, line: number): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(`not JSON: ${messageOf(error)}`, {
      file,
      line,
      character: 0,
      code: "dataset-line",
      action: "Mend or remove the line: a dataset has one JSON object a line.",
    });
  }
  if (!isObject(value))
    throw new UserError("a line must be a JSON object", {
      file,
      line,
      character: 0,
      code: "dataset-line",
      action: 'Write {"prompt": …} on each line.',
    });
  return value;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError(`the dataset can't be read: ${readFailure(error)}`, {
      file,
      code: "dataset-missing",
      cause: error,
      action: "Check the path; it is relative to the config's folder.",
    });
  }
}

/** Keeps the last tokens of a prompt, drops the task, or refuses it; undefined: dropped. */
function fitted(
  prompt: string,
  chosen: Params,
  context: MethodContext,
  file: string,
  line: number,
): string | undefined {
  const { max_prompt: most, overlong } = chosen;
  if (most === undefined) return prompt;
  // Without a tokenizer (a config being checked) characters stand for tokens.
  const encode = context.tokenizer?.encode.bind(context.tokenizer);
  const length = encode === undefined ? [...prompt].length : encode(prompt).length;
  if (length <= most) return prompt;
  if (overlong === "filter") return undefined;
  if (overlong === "error") {
    throw new UserError(`the prompt has ${length} tokens, more than max_prompt = ${most}`, {
      file,
      line,
      character: 0,
      code: "dataset-overlong",
      action: "Shorten it, raise max_prompt, or set overlong: filter or left_truncate.",
    });
  }
  if (encode === undefined || context.tokenizer === undefined)
    return [...prompt].slice(length - most).join("");
  return context.tokenizer.decode(encode(prompt).subarray(length - most));
}

interface Entry {
  readonly task: Task;
  readonly value: string | undefined;
}

function load(chosen: Params, context: MethodContext, name: string, file: string): Entry[] {
  const entries: Entry[] = [];
  read(file)
    .split("\n")
    .forEach((text, line) => {
      if (text.trim() === "") return;
      const row = parse(text.replace(/^\uFEFF/, ""), file, line);
      const prompt = fitted(fillFrom(chosen.prompt, row, file, line), chosen, context, file, line);
      if (prompt === undefined) return;
      const answer = chosen.answer === undefined ? undefined : fillFrom(chosen.answer, row, file, line);
      const solution = chosen.solution === undefined ? answer : fillFrom(chosen.solution, row, file, line);
      const value =
        chosen.difficulty === undefined ? undefined : fillFrom(`{${chosen.difficulty}}`, row, file, line);
      const digest = createHash("sha256")
        .update(JSON.stringify([prompt, answer ?? null]))
        .digest("hex")
        .slice(0, 24);
      entries.push({
        task: {
          id: `dataset:${digest}`,
          source: name,
          env: "dataset",
          prompt,
          ...(chosen.begin === undefined ? {} : { begin: fillFrom(chosen.begin, row, file, line) }),
          data: row,
          ...(answer === undefined ? {} : { answer }),
          ...(solution === undefined ? {} : { solution }),
        },
        value,
      });
    });
  if (entries.length === 0)
    throw new UserError("the dataset gives no task", {
      file,
      code: "dataset-empty",
      action: "Add lines, or raise max_prompt if they were all filtered.",
    });
  return entries;
}

interface Cursor {
  epoch: number;
  at: number;
}

/** One lane per (split, arm value): its own order, epoch and place, so drawing from one never moves another. */
class Dataset implements TaskSource {
  readonly values: readonly string[];
  private readonly lanes = new Map<string, readonly Entry[]>();
  private readonly cursors = new Map<string, Cursor>();
  private readonly byId: Map<string, string | undefined>;
  private readonly orders = new Map<string, { readonly epoch: number; readonly order: readonly Entry[] }>();

  constructor(
    readonly name: string,
    private readonly entries: readonly Entry[],
    private readonly chosen: Params,
    private readonly random: Random,
  ) {
    this.values = [...new Set(entries.flatMap(({ value }) => (value === undefined ? [] : [value])))];
    this.byId = new Map(entries.map(({ task, value }) => [task.id, value]));
  }

  draw(split: Split, value: string | undefined): Task | null {
    const key = JSON.stringify([split, value ?? null]);
    const lane = this.lane(key, split, value);
    if (lane.length === 0) return null;
    const cursor = this.cursors.get(key) ?? { epoch: 0, at: 0 };
    this.cursors.set(key, cursor);
    if (cursor.at >= lane.length) Object.assign(cursor, { epoch: cursor.epoch + 1, at: 0 });
    const passed = cursor.epoch + cursor.at / lane.length;
    if (split === "train" && this.chosen.epochs !== undefined && passed >= this.chosen.epochs) return null;
    return this.order(key, lane, cursor.epoch)[cursor.at++]?.task ?? null;
  }

  valueOf(task: Task): string | undefined {
    return this.byId.get(task.id);
  }

  save(): Saved {
    return {
      json: Object.fromEntries([...this.cursors].map(([key, { epoch, at }]) => [key, { epoch, at }])),
    };
  }

  load(saved: Saved): void {
    this.cursors.clear();
    if (!isObject(saved.json)) return;
    for (const [key, cursor] of Object.entries(saved.json)) {
      if (isObject(cursor))
        this.cursors.set(key, { epoch: Number(cursor["epoch"]), at: Number(cursor["at"]) });
    }
  }

  private lane(key: string, split: Split, value: string | undefined): readonly Entry[] {
    const known = this.lanes.get(key);
    if (known !== undefined) return known;
    const lane = this.entries.filter(
      (entry) => splitOf(entry.task.id) === split && (value === undefined || entry.value === value),
    );
    this.lanes.set(key, lane);
    return lane;
  }

  /** The order of an epoch is a function of (seed, source, lane, epoch): only the place in it has to be saved. */
  private order(key: string, lane: readonly Entry[], epoch: number): readonly Entry[] {
    if (!this.chosen.shuffle) return lane;
    const known = this.orders.get(key);
    if (known?.epoch === epoch) return known.order;
    const order = shuffled(lane, this.random.fork("dataset", this.name, key, epoch));
    this.orders.set(key, { epoch, order });
    return order;
  }
}

export const dataset = taskSource({
  name: "dataset",
  summary: "Tasks from a JSONL file.",
  sources: ["TRL", "verl"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "dataset";
    return new Dataset(
      name,
      load(chosen, context, name, resolve(context.folder, chosen.dataset)),
      chosen,
      context.random,
    );
  },
});
