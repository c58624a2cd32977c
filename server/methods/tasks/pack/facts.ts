import { tagged } from "../../../lib/texts/tagged.ts";
import { z } from "zod";
import { template } from "../../../core/references.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { fill } from "../../../core/templates.ts";
import type { Random } from "../../../lib/random.ts";
import { madeFacts, relations, type RelationName } from "../../../lib/texts/madeFacts.ts";
import { noMessages, says, type Environment } from "../../../core/slots/environment.ts";
import type { Task } from "../../../core/task.ts";
import { generated } from "../generated.ts";

const params = z.object({
  hops: param(
    z.array(z.number().int().min(1).max(4)).min(1).default([1, 2]),
    "How many facts must be looked up for an answer: the difficulties, one arm each.",
  ),
  prompt: param(
    template("question").default("{question}\n"),
    "Template of the prompt: `{question}`, such as `What is the trade of the mayor of Velora?`.",
  ),
  reminder: param(
    z
      .string()
      .min(1)
      .default(
        "That was neither a search nor an answer. Write <search>a query</search> or <answer>the answer</answer>.",
      ),
    "What the policy reads after a turn that neither calls a tool nor answers.",
  ),
});
type Params = z.output<typeof params>;

const names = Object.keys(relations).filter((name): name is RelationName => name in relations);

/** Relations one after the other from a thing; null: this draw leads to no other thing before its end. */
function pathFrom(kind: "town" | "person", hops: number, random: Random): readonly RelationName[] | null {
  const path: RelationName[] = [];
  let at: string | undefined = kind;
  for (let hop = 0; hop < hops; hop++) {
    const ways = names.filter((name) => relations[name].of === at);
    if (ways.length === 0) return null;
    const way = ways[random.integer(ways.length)]!;
    path.push(way);
    at = relations[way].to;
  }
  return path;
}

function make(name: string, chosen: Params, hops: number, random: Random): Task | null {
  const { towns, people, of } = madeFacts();
  const kind = random.integer(2) === 0 ? "town" : "person";
  const path = pathFrom(kind, hops, random);
  if (path === null) return null;
  const things = kind === "town" ? towns : people;
  const from = things[random.integer(things.length)]!;
  const chain = path.reduce((all, way) => [...all, of(all.at(-1)!, way)!], [from]);
  // An answer that the question names, or that is found on the way, needs fewer searches.
  if (new Set(chain).size < chain.length) return null;
  const answer = chain.at(-1)!;
  if (hops > 1 && names.some((way) => of(from, way) === answer)) return null;
  const asks = relations[path.at(-1)!].to === "person" ? "Who" : "What";
  const question = `${asks} is ${path.reduce((text, way) => relations[way].phrase(text), from)}?`;
  return {
    id: `facts:${from}:${path.join("/")}`,
    source: name,
    env: "facts",
    prompt: fill(chosen.prompt, { question }),
    answer,
    data: { question, hops, from, path: [...path], chain },
    solution: `<answer>${answer}</answer>`,
  };
}

/** Ends with an answer in its tags; what is neither that nor a call of a tool gets a reminder, as in Search-R1. */
const answering = ({ reminder }: Params): Environment => ({
  reset: async () => ({ messages: noMessages }),
  step: async (text) => {
    const done = tagged(text, ["answer"]).length > 0;
    return { ...(done ? { messages: noMessages } : says(reminder)), done };
  },
  state: async () => ({}),
  restore: async () => undefined,
  close: async () => undefined,
});

export const facts = taskSource({
  name: "facts",
  summary:
    "Questions about a made-up world of towns and people, which the tool `search` with `folder: made:facts` finds: one fact, or several that lead to one another. An episode ends with `<answer>…</answer>`.",
  sources: ["Search-R1: Training LLMs to Reason and Leverage Search Engines with Reinforcement Learning"],
  params,
  create: (chosen, context) => {
    const name = context.name ?? "facts";
    return {
      ...generated({
        env: "facts",
        name,
        values: [...new Set(chosen.hops)].map(String),
        make: (value, random) => make(name, chosen, Number(value), random),
        range: [1, 4],
        valueOf: ({ data }) => (typeof data["hops"] === "number" ? String(data["hops"]) : undefined),
      }),
      play: { open: async () => answering(chosen), optional: true },
    };
  },
});
