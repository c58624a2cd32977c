/** What is known of the concepts that tasks need: named by their data, or by an author who was asked once. */
import { z } from "zod";
import type { Json } from "../../../shared/lib/json.ts";
import type { Task } from "../../core/task.ts";
import type { Saved, Stateful } from "../../core/basics.ts";

const schema = z.array(z.tuple([z.string(), z.array(z.string())]));

/** A longer one is not a concept but an answer that missed the question. */
const longest = 300;

const clean = (texts: readonly string[]): string[] => [
  ...new Set(
    texts
      .map((text) => text.replace(/\s+/g, " ").trim())
      .filter((text) => text !== "" && text.length <= longest),
  ),
];

/** Texts in quotes of the last list in brackets; undefined: there is none. */
function quoted(text: string): string[] | undefined {
  const list = [...text.matchAll(/\[[^[\]]*\]/g)].at(-1)?.[0];
  const found = [...(list ?? "").matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/g)];
  return found.length === 0 ? undefined : found.map(([, double, single]) => double ?? single ?? "");
}

/** A line without what counts or marks it; a fence is none. */
const unmarked = (line: string): string =>
  line.replace(/^\s*(?:```\w*|[-*•]+|\(?\d+[.):])\s*/, "").replace(/^\*\*(.*?)\*\*/, "$1");

/** The concepts that an author's answer names, one a line or in a list, each once. */
export const conceptsIn = (text: string): string[] => clean(quoted(text) ?? text.split("\n").map(unmarked));

/** Those that a field of a task's data names: a list, or lines. */
export function conceptsOf({ data }: Task, field: string): string[] {
  const value: Json | undefined = data[field];
  if (Array.isArray(value)) return clean(value.filter((one) => typeof one === "string"));
  return typeof value === "string" ? conceptsIn(value) : [];
}

/** By task; what no task is remembered of is forgotten with it. */
export class ConceptBook implements Stateful {
  private readonly lists = new Map<string, readonly string[]>();

  /** undefined: it was never asked about. */
  of(id: string): readonly string[] | undefined {
    return this.lists.get(id);
  }
  learn(id: string, concepts: readonly string[]): void {
    this.lists.set(id, concepts);
  }
  keep(known: (id: string) => boolean): void {
    for (const id of this.lists.keys()) if (!known(id)) this.lists.delete(id);
  }

  save(): Saved {
    return { json: [...this.lists].map(([id, list]) => [id, [...list]]) };
  }
  load({ json }: Saved): void {
    this.lists.clear();
    for (const [id, list] of schema.safeParse(json).data ?? []) this.lists.set(id, list);
  }
}
