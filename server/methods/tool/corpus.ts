/** What is searched: the passages of a folder or of the made-up world, ranked by BM25. */
import { resolve } from "node:path";
import { z } from "zod";
import { refers } from "../../core/references.ts";
import { param } from "../../core/declaration.ts";
import type { ToolSpec } from "../../core/slots/tool.ts";
import { Bm25 } from "../../lib/texts/bm25.ts";
import { madeFacts } from "../../lib/texts/madeFacts.ts";
import { passagesIn, type Passage } from "./passages.ts";

/** In the place of a folder. */
const madeWorld = "made:facts";

export const folderParam = param(
  refers({ to: "file", ends: [".jsonl", ".txt", ".md"], also: [madeWorld] }).min(1),
  "Folder (or one file) with `.txt`, `.md` and `.jsonl`, relative to the config. A line of JSONL is a passage: `title` and `text`, or Search-R1's `contents`. `made:facts` is the small made-up world that the tasks `env: facts` ask about.",
);

/** Other parameters of every tool that searches. */
export const searchParams = {
  name: param(z.string().regex(/^\w+$/).default("search"), "What the policy calls it."),
  description: param(
    z.string().min(1).default("Searches for passages by the words of a query."),
    "What the policy reads of it.",
  ),
  words: param(
    z.number().int().min(10).max(2000).default(100),
    "Words of a passage that is cut from a text: whole paragraphs until there are as many.",
  ),
  k1: param(z.number().min(0).max(10).default(0.9), "Saturation of a word's count; Pyserini: 0.9."),
  b: param(
    z.number().min(0).max(1).default(0.4),
    "How much long passages are held against their length; Pyserini: 0.4.",
  ),
};
const schema = z.object({ folder: folderParam, ...searchParams });
type CorpusParams = z.output<typeof schema>;

export interface Corpus {
  readonly passages: readonly Passage[];
  readonly index: Bm25;
}

/** @param base the folder that relative ones start from @throws UserError naming what cannot be read */
export function openCorpus({ folder, words, k1, b }: CorpusParams, base: string): Corpus {
  const passages = folder === madeWorld ? madeFacts().facts : passagesIn(resolve(base, folder), words);
  const index = new Bm25(
    passages.map(({ title, text }) => `${title}\n${text}`),
    { k1, b },
  );
  return { passages, index };
}

/** How a search is called. */
export const queryParameters: ToolSpec["parameters"] = {
  type: "object",
  properties: { query: { type: "string", description: "Words to search for." } },
  required: ["query"],
};

/** Why a query is none, as the policy reads it; undefined: it is one. */
export const queryProblem = (query: unknown): string | undefined =>
  typeof query === "string" && query.trim() !== ""
    ? undefined
    : "Error: `query` must be a text with words to search for.";

/** Passages as Search-R1 writes them. */
export const asDocuments = (found: readonly Passage[]): string =>
  found.length === 0
    ? "Nothing was found."
    : found.map(({ title, text }, at) => `Doc ${at + 1}(Title: ${title}) ${text}`).join("\n");
