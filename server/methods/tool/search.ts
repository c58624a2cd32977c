import { resolve } from "node:path";
import { z } from "zod";
import { refers } from "../../core/references.ts";
import { param, tool } from "../../core/declaration.ts";
import { Bm25 } from "../../lib/texts/bm25.ts";
import { passagesIn } from "./passages.ts";

export const search = tool({
  name: "search",
  summary: "Finds passages of a folder's texts by the words of a query (BM25).",
  formula:
    "Σ_w idf(w)·f·(k1 + 1) / (f + k1·(1 − b + b·length / mean length)), idf = ln(1 + (N − n + ½) / (n + ½))",
  sources: ["Search-R1: Training LLMs to Reason and Leverage Search Engines with Reinforcement Learning"],
  params: z.object({
    folder: param(
      refers({ to: "file", ends: [".jsonl", ".txt", ".md"] }).min(1),
      "Folder (or one file) with `.txt`, `.md` and `.jsonl`, relative to the config. A line of JSONL is a passage: `title` and `text`, or Search-R1's `contents`.",
    ),
    name: param(z.string().regex(/^\w+$/).default("search"), "What the policy calls it."),
    description: param(
      z.string().min(1).default("Searches for passages by the words of a query."),
      "What the policy reads of it.",
    ),
    top_k: param(z.number().int().min(1).max(50).default(3), "Passages of a result."),
    words: param(
      z.number().int().min(10).max(2000).default(100),
      "Words of a passage that is cut from a text: whole paragraphs until there are as many.",
    ),
    k1: param(z.number().min(0).max(10).default(0.9), "Saturation of a word's count; Pyserini: 0.9."),
    b: param(
      z.number().min(0).max(1).default(0.4),
      "How much long passages are held against their length; Pyserini: 0.4.",
    ),
  }),
  create: ({ folder, name, description, top_k, words, k1, b }, context) => ({
    async open() {
      const passages = passagesIn(resolve(context.folder, folder), words);
      const index = new Bm25(
        passages.map(({ title, text }) => `${title}\n${text}`),
        { k1, b },
      );
      const parameters = {
        type: "object",
        properties: { query: { type: "string", description: "Words to search for." } },
        required: ["query"],
      };
      return [
        {
          name,
          description,
          parameters,
          async call({ query }) {
            if (typeof query !== "string" || query.trim() === "")
              return "Error: `query` must be a text with words to search for.";
            const found = index.best(query, top_k);
            if (found.length === 0) return "Nothing was found.";
            return found
              .map(({ text }, at) => `Doc ${at + 1}(Title: ${passages[text]!.title}) ${passages[text]!.text}`)
              .join("\n");
          },
        },
      ];
    },
  }),
});
