import { createHash } from "node:crypto";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { taskSource, param, type MethodContext } from "../../core/declaration.ts";
import { refers, template } from "../../core/references.ts";
import { isMeasured } from "../../../shared/rollouts/rollouts.ts";
import { datasetPlace } from "../../lib/datasets/name.ts";
import type { Random } from "../../lib/random.ts";
import type { Saved } from "../../core/basics.ts";
import { shuffled } from "./countdownExpressions.ts";
import { fillFrom, isObject, rowsOf, type DatasetRow } from "./datasetRows.ts";
import { splitOf, type Split } from "../../core/split.ts";
import type { Task } from "../../core/task.ts";
import type { ListedTask, RecordedTask, TaskPool, TaskSource } from "../../core/slots/tasks.ts";

const params = z.object({
  dataset: param(
    refers({ to: "file", ends: [".jsonl", ".json", ".parquet", ".arrow"] }).min(1),
    "JSONL file with one task per line, or Parquet or Arrow file with one per row; a pattern of such files or a folder of them, also one of `save_to_disk`; relative to this config. `hf://datasets/org/name[@revision][/path]` is read from the Hugging Face cache.",
  ),
  prompt: param(
    template().default("{prompt}"),
    "Template of the prompt: `{field}` inserts a field of the line, `{a.b}` a nested field, `{list.0}` an item. A conversation inserts the texts of its messages.",
  ),
  begin: param(
    template().optional(),
    "Template of the response's beginning: it is prefilled, and the model continues it.",
  ),
  answer: param(template().optional(), "Template of the reference answer, e.g. `{answer}`."),
  solution: param(
    template().optional(),
    "Template of the written solution, for warm-up; default: the answer.",
  ),
  chosen: param(
    template().optional(),
    "Template of the better of two answers, for stages that learn from pairs.",
  ),
  rejected: param(template().optional(), "Template of the worse of two answers; only with `chosen`."),
  difficulty: param(refers({ to: "field" }).optional(), "Field whose value is the task's arm."),
  shuffle: param(
    z.boolean().default(true),
    "Shuffle the tasks each epoch; otherwise they keep the file's order.",
  ),
  epochs: param(
    z.number().positive().optional(),
    "Passes over the file before the source is empty; default: unlimited.",
  ),
  max_prompt: param(z.number().int().positive().optional(), "Longest prompt, in tokens."),
  overlong: param(
    z.enum(["filter", "left_truncate", "error"]).default("filter"),
    "What happens to a longer prompt.",
  ),
});
type Params = z.output<typeof params>;

/** Keeps the last tokens of a prompt, drops the task, or refuses it; undefined: dropped. */
function fitted(
  prompt: string,
  chosen: Params,
  context: MethodContext,
  { name, place }: DatasetRow,
): string | undefined {
  const { max_prompt: most, overlong } = chosen;
  if (most === undefined) return prompt;
  // Without a tokenizer (a config being checked) characters count as tokens.
  const encode = context.tokenizer?.encode.bind(context.tokenizer);
  const length = encode === undefined ? [...prompt].length : encode(prompt).length;
  if (length <= most) return prompt;
  if (overlong === "filter") return undefined;
  if (overlong === "error") {
    throw new UserError(`the prompt of ${name} has ${length} tokens, more than max_prompt = ${most}`, {
      ...place,
      code: "dataset-overlong",
      action: "Shorten it, raise max_prompt, or set overlong: filter or left_truncate.",
    });
  }
  if (encode === undefined || context.tokenizer === undefined)
    return [...prompt].slice(length - most).join("");
  return context.tokenizer.decode(encode(prompt).subarray(length - most));
}

interface TaskEntry extends ListedTask {
  readonly value: string | undefined;
}

interface Loaded {
  readonly entries: readonly TaskEntry[];
  /** Recorded rollouts that were written to be measured. */
  readonly measured: number;
}

function load(chosen: Params, context: MethodContext, name: string, file: string): Loaded {
  const entries: TaskEntry[] = [];
  let [measured, rows, current] = [0, 0, ""];
  for (const row of rowsOf(file)) {
    if (row.place.file !== current) [rows, current] = [0, row.place.file];
    rows += 1;
    if (isMeasured(row.value)) {
      measured += 1;
      continue;
    }
    const prompt = fitted(fillFrom(chosen.prompt, row), chosen, context, row);
    if (prompt !== undefined) entries.push({ ...entryOf(chosen, name, prompt, row), ...placeOf(row, rows) });
  }
  if (entries.length === 0)
    throw new UserError("the dataset has no task", {
      file,
      code: "dataset-empty",
      action:
        measured > 0
          ? "All of its lines are rollouts recorded for measurement (`use: evaluate` or `estimate`), which never train: name a log with rollouts that trained."
          : "Add lines, or raise max_prompt if they were all filtered.",
    });
  return { entries, measured };
}

const placeOf = (
  { place: { file, line } }: DatasetRow,
  row: number,
): Pick<TaskEntry, "file" | "row" | "line"> => (line === undefined ? { file, row } : { file, row, line });

function entryOf(
  chosen: Params,
  source: string,
  prompt: string,
  row: DatasetRow,
): Pick<TaskEntry, "task" | "value"> {
  const fill = (template: string | undefined): string | undefined =>
    template === undefined ? undefined : fillFrom(template, row);
  const answer = fill(chosen.answer);
  const [better, worse] = [fill(chosen.chosen), fill(chosen.rejected)];
  const solution = fill(chosen.solution) ?? answer ?? better;
  const digest = createHash("sha256")
    .update(
      JSON.stringify([prompt, answer ?? null, ...(better === undefined ? [] : [better, worse ?? null])]),
    )
    .digest("hex")
    .slice(0, 24);
  return {
    task: {
      id: `dataset:${digest}`,
      source,
      env: "dataset",
      prompt,
      ...(chosen.begin === undefined ? {} : { begin: fillFrom(chosen.begin, row) }),
      data: row.value,
      ...(answer === undefined ? {} : { answer }),
      ...(solution === undefined ? {} : { solution }),
      ...(better === undefined || worse === undefined ? {} : { pair: { chosen: better, rejected: worse } }),
    },
    value: chosen.difficulty === undefined ? undefined : fillFrom(`{${chosen.difficulty}}`, row),
  };
}

const stampOf = (entries: readonly TaskEntry[]): string => {
  const hash = createHash("sha256");
  for (const { task, value } of entries) hash.update(`${task.id} ${value ?? ""}\n`);
  return hash.digest("hex").slice(0, 24);
};

interface Cursor {
  epoch: number;
  at: number;
}

/** One lane per (split, arm value): its own order, epoch and place, so drawing from one never moves another. */
class Dataset implements TaskSource {
  readonly values: readonly string[];
  private readonly lanes = new Map<string, readonly TaskEntry[]>();
  private readonly cursors = new Map<string, Cursor>();
  private readonly byId: Map<string, string | undefined>;
  private made: string | undefined;
  /** Prompts that are held out. */
  private askedOnly: ReadonlySet<string> | undefined;
  private readonly orders = new Map<
    string,
    { readonly epoch: number; readonly order: readonly TaskEntry[] }
  >();

  constructor(
    readonly name: string,
    private readonly entries: readonly TaskEntry[],
    private readonly chosen: Params,
    private readonly random: Random,
    readonly omitted?: string,
  ) {
    this.values = [...new Set(entries.flatMap(({ value }) => (value === undefined ? [] : [value])))];
    this.byId = new Map(entries.map(({ task, value }) => [task.id, value]));
  }

  get stamp(): string {
    return (this.made ??= stampOf(this.entries));
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

  pool(): TaskPool {
    // Two lines of one task are one arm.
    const lane = [
      ...new Map(
        this.lane(JSON.stringify(["train", null]), "train", undefined).map(({ task }) => [task.id, task]),
      ).values(),
    ];
    return { size: lane.length, task: (number) => lane[number]! };
  }

  listed(): readonly ListedTask[] {
    return this.entries;
  }

  valueOf(task: Task): string | undefined {
    return this.byId.get(task.id);
  }

  holdsOut({ id, prompt }: RecordedTask): boolean {
    if (id !== undefined && this.byId.has(id)) return splitOf(id) === "evaluate";
    this.askedOnly ??= new Set(
      this.lane(JSON.stringify(["evaluate", null]), "evaluate", undefined).map(({ task }) => task.prompt),
    );
    return prompt !== undefined && this.askedOnly.has(prompt);
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

  private lane(key: string, split: Split, value: string | undefined): readonly TaskEntry[] {
    const known = this.lanes.get(key);
    if (known !== undefined) return known;
    const lane = this.entries.filter(
      (entry) => splitOf(entry.task.id) === split && (value === undefined || entry.value === value),
    );
    this.lanes.set(key, lane);
    return lane;
  }

  /** The order of an epoch is a function of (seed, source, lane, epoch): only the place in it has to be saved. */
  private order(key: string, lane: readonly TaskEntry[], epoch: number): readonly TaskEntry[] {
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
  summary: "Tasks from files: JSONL, Parquet, Arrow, or a dataset of the Hugging Face cache.",
  sources: ["TRL", "verl"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "dataset";
    const file = datasetPlace(context.folder, chosen.dataset);
    const { entries, measured } = load(chosen, context, name, file);
    const omitted =
      measured === 0
        ? undefined
        : `${measured} ${measured === 1 ? "line" : "lines"} of ${chosen.dataset} left out: rollouts recorded for measurement (\`use: evaluate\` or \`estimate\`) never train`;
    return new Dataset(name, entries, chosen, context.random, omitted);
  },
});
