import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import { param, tool } from "../../core/declaration.ts";
import { schedulable, valueAt } from "../../core/schedule.ts";
import type { Task } from "../../core/task.ts";
import type { Tool, ToolContext } from "../../core/slots/tool.ts";
import { chatChoices, chatParams, type Asker } from "../../lib/chatCompletions.ts";
import { Limited } from "../../lib/waiting/limited.ts";
import {
  asDocuments,
  folderParam,
  searchParams,
  openCorpus,
  queryParameters,
  queryProblem,
  type Corpus,
} from "./corpus.ts";

const params = z.object({
  folder: folderParam.optional(),
  ...searchParams,
  top_k: param(z.number().int().min(1).max(50).default(5), "Documents of a result."),
  noise: param(
    schedulable(z.number().min(0).max(1)).default(0),
    "P: how likely the documents of a result are noisy. Evaluations have no noise.",
  ),
  engine: param(
    z
      .strictObject({
        ...chatParams,
        max_tokens: z.number().int().min(1).default(600).describe("Longest result, in tokens."),
        temperature: z.number().min(0).max(2).default(0.8).describe("Of its sampling."),
      })
      .optional(),
    "A served model that plays the search engine: it reads the question, its answer and the query. Absent: passages of the corpus; noisy ones are the best that do not hold the answer.",
  ),
});
type Params = z.output<typeof params>;

const engineAsker: Asker = {
  who: "The simulated search engine",
  code: "tool-search",
  action: "Start the server, or correct `engine.url`, `engine.model` and `engine.key`.",
};

/** What the model that plays the engine is asked. */
export const engineQuestion = (
  query: string,
  task: Task | undefined,
  count: number,
  noisy: boolean,
): string =>
  `Play a search engine: write the ${count} documents that it finds for a query, each of about 30 words, as lines that begin with "Doc 1: ", "Doc 2: " and so on. Write nothing else.

Who searches wants to answer this question: ${String(task?.data["question"] ?? task?.prompt ?? "not known")}
The answer is: ${task?.answer ?? "not known"}
${
  noisy
    ? "The documents must be about the query, and must be of no help: neither the answer nor what leads to it is in them."
    : "The documents must help to find the answer."
}

Query: ${query}
`;

/** The documents that were asked for, without those that the model wrote after them. */
const firstDocuments = (said: string, count: number): string =>
  said
    .replaceAll(/\n{2,}/g, "\n")
    .split(`Doc ${count + 1}`)[0]!
    .trim();

/** What is searched for, by whom, and whether the result is noisy. */
interface Asked {
  readonly query: string;
  readonly task: Task | undefined;
  readonly noisy: boolean;
}
type Find = (asked: Asked) => Promise<string>;

/** A served model plays the engine; a request that fails is made once more. */
function playedBy(engine: NonNullable<Params["engine"]>, top_k: number): Find {
  const { max_tokens, temperature, parallel } = engine;
  const limited = new Limited(parallel);
  return ({ query, task, noisy }) => {
    const question = engineQuestion(query, task, top_k, noisy);
    const how = { samples: 1, max_tokens, temperature };
    const ask = (): Promise<string[]> => chatChoices(engine, question, how, engineAsker);
    return limited.run(async () => firstDocuments((await ask().catch(ask))[0] ?? "", top_k));
  };
}

/** Whether a text holds another as words of its own. */
const holds = (text: string, answer: string): boolean =>
  ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ")} `.includes(
    ` ${answer
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
      .trim()} `,
  );

/** The best passages; noisy: the best of those that do not hold the answer. */
function ofCorpus({ passages, index }: Corpus, top_k: number): Find {
  return async ({ query, task, noisy }) => {
    const answer = noisy ? task?.answer : undefined;
    const found = index.best(query, passages.length).map(({ text }) => passages[text]!);
    const kept =
      answer === undefined ? found : found.filter(({ title, text }) => !holds(`${title} ${text}`, answer));
    return asDocuments(kept.slice(0, top_k));
  };
}

const isNoisy = ({ noise }: Params, { clock, random }: ToolContext): boolean =>
  clock !== undefined && random !== undefined && random.next() < valueAt(noise, clock);

/** @throws UserError where there is neither a model nor a corpus */
function finder(chosen: Params, base: string): Find {
  const { engine, folder, top_k } = chosen;
  if (engine !== undefined) return playedBy(engine, top_k);
  if (folder !== undefined) return ofCorpus(openCorpus({ ...chosen, folder }, base), top_k);
  throw new UserError("simulated_search: there is nothing to search.", {
    code: "tool-search",
    action: "Name a folder of texts in `folder`, or a served model in `engine`.",
  });
}

export const simulatedSearch = tool({
  name: "simulated_search",
  summary:
    "A search engine that is played, by a served model or with passages of a corpus, and that finds noisy documents more and more often.",
  formula: "P(noisy) = p_s + (bᵗ − 1)/(b − 1)·(p_e − p_s), t the share of the steps, b = 4, as a schedule",
  sources: ["ZeroSearch: Incentivize the Search Capability of LLMs without Searching"],
  params,
  create: (chosen, context) => ({
    async open() {
      const { name, description } = chosen;
      const find = finder(chosen, context.folder);
      const call: Tool["call"] = async ({ query }, asked) =>
        queryProblem(query) ??
        find({ query: String(query), task: asked.task, noisy: isNoisy(chosen, asked) });
      return [{ name, description, parameters: queryParameters, call }];
    },
  }),
});
