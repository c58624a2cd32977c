import { z } from "zod";
import { param, tool } from "../../core/declaration.ts";
import {
  asDocuments,
  folderParam,
  searchParams,
  openCorpus,
  queryParameters,
  queryProblem,
} from "./corpus.ts";

export const search = tool({
  name: "search",
  summary: "Finds passages of a folder's texts by the words of a query (BM25).",
  formula:
    "Σ_w idf(w)·f·(k1 + 1) / (f + k1·(1 − b + b·length / mean length)), idf = ln(1 + (N − n + ½) / (n + ½))",
  sources: ["Search-R1: Training LLMs to Reason and Leverage Search Engines with Reinforcement Learning"],
  params: z.object({
    folder: folderParam,
    ...searchParams,
    top_k: param(z.number().int().min(1).max(50).default(3), "Passages of a result."),
  }),
  create: (chosen, context) => ({
    async open() {
      const { name, description, top_k } = chosen;
      const { passages, index } = openCorpus(chosen, context.folder);
      return [
        {
          name,
          description,
          parameters: queryParameters,
          async call({ query }) {
            const problem = queryProblem(query);
            if (problem !== undefined) return problem;
            return asDocuments(index.best(String(query), top_k).map(({ text }) => passages[text]!));
          },
        },
      ];
    },
  }),
});
