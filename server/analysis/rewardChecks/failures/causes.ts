/** Failures of one cause: what a reward throws at one place, however many answers it throws there on. */
import { basename, dirname } from "node:path";
import { formatCount } from "../../../../shared/lib/format.ts";
import { kindOfFailure, readFailure, shortFailure } from "../../../../shared/rollouts/failureText.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import type { RewardTermConfig } from "../../../core/config/resolved.ts";
import type { Task } from "../../../core/task.ts";
import { isObject } from "../../evidence/json.ts";
import { asksRow } from "./askedRow.ts";
import type { CheckedTask } from "../checkedTasks.ts";
import { ownFile, placeOf, type FilePlace } from "../ownFiles.ts";
import { liesIn } from "../../../../shared/lib/liesIn.ts";

export interface FailureCause {
  readonly term: string;
  /** Of the first failure, without its place. */
  readonly what: string;
  /** Answers that failed for this cause, and all that the term was asked. */
  readonly failed: number;
  readonly asked: number;
  /** The task of the first: its row where it is of a file, else its id. */
  readonly first: string;
  /** What the person does about it. */
  readonly action: string;
  /** The line that threw, else the function's; undefined of a method of ours. */
  readonly place?: FilePlace;
}

interface Counted {
  readonly place: string | null;
  readonly cause: Omit<FailureCause, "failed" | "asked">;
  failed: number;
  isSaid: boolean;
}

/** What a term gave an answer, or what it said when it failed; neither: it does not apply. */
interface Tried {
  readonly task: Task;
  readonly terms: Readonly<Record<string, number | null>>;
  readonly errors: Readonly<Record<string, string>>;
}

/** Over all answers of a command or a check. */
export class FailureCauses {
  /** By term and kind: a kind may come from several lines. */
  private readonly byKind = new Map<string, Counted[]>();
  private readonly asked = new Map<string, number>();
  private readonly rows = new Map<Task, Pick<CheckedTask, "file" | "row">>();

  constructor(private readonly terms: readonly RewardTermConfig[]) {}

  /** Where tasks are: what fails first is named by its row. */
  know(tasks: readonly CheckedTask[]): void {
    for (const { task, ...place } of tasks) this.rows.set(task, place);
  }

  add(scored: readonly Tried[]): void {
    for (const { task, terms, errors } of scored)
      for (const [term, value] of Object.entries(terms)) {
        const message = errors[term];
        if (value === null && message === undefined) continue;
        this.asked.set(term, (this.asked.get(term) ?? 0) + 1);
        if (message === undefined) continue;
        this.counted(term, message, task).failed += 1;
      }
  }

  private counted(term: string, message: string, task: Task): Counted {
    const { kind, place } = kindOfFailure(message);
    const key = JSON.stringify([term, kind]);
    const alike = this.byKind.get(key) ?? [];
    // A long message is cut, and its place with it.
    const known = alike.find((one) => one.place === place || one.place === null || place === null);
    if (known !== undefined) return known;
    const counted = { place, cause: this.first(term, message, task), failed: 0, isSaid: false };
    this.byKind.set(key, [...alike, counted]);
    return counted;
  }

  /** Those that were not asked for before, the most frequent first. */
  fresh(): readonly FailureCause[] {
    const open = [...this.byKind.values()].flat().filter(({ isSaid }) => !isSaid);
    return open
      .sort((one, other) => other.failed - one.failed)
      .map((counted) => {
        counted.isSaid = true;
        const { cause, failed } = counted;
        return { ...cause, failed, asked: this.asked.get(cause.term) ?? failed };
      });
  }

  /** Terms that failed on all that they were asked. */
  get broken(): readonly string[] {
    const failed = new Map<string, number>();
    for (const { cause, failed: count } of [...this.byKind.values()].flat())
      failed.set(cause.term, (failed.get(cause.term) ?? 0) + count);
    return [...failed].flatMap(([term, count]) => (count === this.asked.get(term) ? [term] : []));
  }

  private first(term: string, message: string, task: Task): Counted["cause"] {
    const { text, ...at } = readFailure(message);
    const of = this.terms.find(({ name }) => name === term);
    const place = of && placeOfFailure(of, at);
    const missing = missingKey(text);
    const isRows =
      missing !== undefined && of !== undefined && place !== undefined && asksRow(of, place, missing);
    const { row, file: data } = this.rows.get(task) ?? {};
    return {
      term,
      what: shortFailure(text),
      first:
        row === undefined
          ? `task ${JSON.stringify(task.id)}`
          : `row ${row}${data === undefined ? "" : ` of ${basename(data)}`}`,
      action: actionFor(isRows ? missing : undefined, task.data),
      ...(place && { place }),
    };
  }
}

/** What was thrown in a package is the function's to catch. */
function placeOfFailure(
  term: RewardTermConfig,
  { file, cell, line }: Omit<ReturnType<typeof readFailure>, "text">,
): FilePlace | undefined {
  const own = ownFile(term);
  const isOwn = own !== undefined && file !== null && liesIn(file, dirname(own));
  return isOwn && line !== null && !/[\\/](?:site-packages|node_modules)[\\/]/.test(file)
    ? { file, ...(cell !== undefined && { cell }), line: line - 1 }
    : placeOf(term);
}

/** Fields that are named; rows may have hundreds. */
const mostFields = 8;

const missingKey = (text: string): string | undefined => /\bKeyError: (['"])(.+)\1/.exec(text)?.[2];

/** @param key that the row was asked for, and does not have */
function actionFor(key: string | undefined, data: Json | undefined): string {
  const fields = fieldsOf(data);
  if (key === undefined || fields.length === 0) return "Fix that line, then check again.";
  const named = fields.slice(0, mostFields).join(", ");
  const more = fields.length > mostFields ? ", …" : "";
  return fields.some((field) => field === key || field.endsWith(`.${key}`))
    ? `The row has ${named}${more}: read \`${key}\` where it is.`
    : `The row has ${named}${more}: read one of these, or name the column \`${key}\`.`;
}

/** Of maps within it as well: `extra_info.split`. */
function fieldsOf(data: Json | undefined): string[] {
  if (!isObject(data)) return [];
  return Object.entries(data).flatMap(([name, value]) =>
    isObject(value) ? [name, ...Object.keys(value).map((inner) => `${name}.${inner}`)] : [name],
  );
}

/** "`score` fails on 200 of 200 answers, first on row 1 of train.jsonl: threw KeyError: 'answer'. The row has …". */
export const causeMessage = ({ term, what, failed, asked, first, action }: FailureCause): string =>
  `\`${term}\` fails on ${failed === asked ? "all " : `${formatCount(failed)} of `}${formatCount(asked)} answers, first on ${first}: ${what.replace(/\.$/, "")}. ${action}`;

/** A term that fails wherever it is asked is broken. */
export const causeSeverity = ({ failed, asked }: FailureCause): "error" | "warning" =>
  failed === asked ? "error" : "warning";
