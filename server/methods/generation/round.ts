/** One round: parents → children → answers → gates. What rolls out and what writes is given. */
import type { Recipe, RoundContext, Child, Refuse, TextTasks } from "./recipe.ts";
import type { Task } from "../../core/task.ts";
import type { GeneratedTasks } from "./generatedTasks.ts";
import { admitted, examined } from "./gating.ts";
import { withoutLineage } from "./task.ts";
import { majority } from "./majority.ts";
import { conceptOrders, familiesOf, type Order } from "./ordering.ts";
import { extracted } from "./pattern.ts";
import type { AnswerSource, Author, Draft, RememberedTask } from "../../core/slots/generation.ts";

/** What came of a round. */
export interface Round {
  /** Children that were to be made. */
  readonly parents: number;
  readonly taken: readonly Task[];
  /** Reason → how many. */
  readonly refused: ReadonlyMap<string, number>;
  /** Of the author's texts, in the order of requests and of the texts for each, whatever the gates said. */
  readonly texts: ReadonlyMap<number, string | null>;
}

export async function round(source: GeneratedTasks, recipe: Recipe, context: RoundContext): Promise<Round> {
  const number = source.round++;
  const own = { ...context, random: context.random.fork("round", number) };
  const refused = new Map<string, number>();
  const refuse = (reason: string, task?: Task): void => {
    refused.set(reason, (refused.get(reason) ?? 0) + 1);
    if (task !== undefined) source.refuse(task.id);
  };
  const { wanted, children } = await made(source, recipe, own, refuse);
  const texts: TextTasks = new Map();
  const candidates = examined(source, children, recipe, { fits: own.fits, texts }, refuse);
  const taken = await admitted(candidates, recipe, own, refuse);
  for (const task of taken) source.take(task);
  return { parents: wanted, taken, refused, texts };
}

// ───────────────────────────────────────────────────────────────── authors

/** How many children were to be made, and those that were. */
async function made(
  source: GeneratedTasks,
  recipe: Recipe,
  context: RoundContext,
  refuse: Refuse,
): Promise<{ readonly wanted: number; readonly children: readonly Child[] }> {
  const { transform, author } = recipe;
  if (transform.make === undefined && author.kind !== "program") {
    const orders = await ordersOf(source, recipe, context, refuse);
    return {
      wanted: orders.length * recipe.children,
      children: await written(source, orders, recipe, author, context, refuse),
    };
  }
  const families = await familiesOf(source, recipe, context);
  return { wanted: families.length, children: byThemselves(source, families, recipe, context, refuse) };
}

async function ordersOf(
  source: GeneratedTasks,
  recipe: Recipe,
  context: RoundContext,
  refuse: Refuse,
): Promise<readonly Order[]> {
  const { concepts } = recipe.transform;
  if (concepts !== undefined) return conceptOrders(source, concepts, recipe, context, refuse);
  const families = await familiesOf(source, recipe, context);
  return families.map((family) => ({ parents: tasksOf(family) }));
}

/** Children that the parents' environments or the transform make. */
function byThemselves(
  source: GeneratedTasks,
  families: readonly RememberedTask[][],
  { transform }: Recipe,
  context: RoundContext,
  refuse: Refuse,
): Child[] {
  return families.flatMap((family, i): Child[] => {
    const [seen] = family;
    const random = context.random.fork("child", i);
    const draft =
      transform.make === undefined
        ? source.environment(seen!.task)?.vary?.(seen!.task, transform.level, random)
        : transform.make(seen!, random);
    if (draft != null) return [{ draft, parents: tasksOf(family) }];
    refuse(
      transform.make === undefined
        ? "its environment has no task that easy or that hard"
        : "no task can be made from its parent",
    );
    return [];
  });
}

const tasksOf = (family: readonly RememberedTask[]): Task[] => family.map(({ task }) => task);

async function written(
  source: GeneratedTasks,
  orders: readonly Order[],
  { transform, answer, children }: Recipe,
  author: Exclude<Author, { kind: "program" }>,
  context: RoundContext,
  refuse: Refuse,
): Promise<Child[]> {
  const { max_tokens, temperature } = author;
  const feedback = source.feedback();
  const requests = orders.map(({ parents, drawn }) => transform.ask(parents, feedback, drawn));
  const { write = context.complete } = context;
  const texts = await write(requests, { samples: children, max_tokens, temperature });
  const asked = orders.flatMap((order) => Array.from({ length: children }, () => order));
  const said = asked.flatMap((order, i): WrittenPrompt[] => {
    const text = (texts[Math.floor(i / children)]?.[i % children] ?? "").trim();
    const prompt = text === "" || transform.take === undefined ? text : extracted(text, transform.take);
    if (prompt !== null && prompt !== "") return [{ order, prompt, text: i }];
    refuse(prompt === "" ? "the author wrote nothing" : "the author's text contains no task");
    return [];
  });
  const votes = answer.kind === "vote" ? await votesOn(said, answer, author, context) : [];
  return said.flatMap(({ order, prompt, text }, i): Child[] => {
    const draft = answered(source, order, prompt, answer, votes[i] ?? []);
    if (typeof draft === "object") return [{ draft, parents: order.parents, text }];
    refuse(draft);
    return [];
  });
}

/** The prompt of a child that was ordered. */
interface WrittenPrompt {
  readonly order: Order;
  readonly prompt: string;
  /** Which of the author's texts says it. */
  readonly text: number;
}

function votesOn(
  said: readonly WrittenPrompt[],
  answer: Extract<AnswerSource, { kind: "vote" }>,
  author: Exclude<Author, { kind: "program" }>,
  { complete, policy }: RoundContext,
): Promise<readonly (readonly string[])[]> {
  const { voter = complete, ask = (prompt) => prompt, samples } = answer;
  const { max_tokens = author.max_tokens, temperature = author.temperature } = answer;
  return (voter === "policy" ? policy : voter)(
    said.map(({ prompt }) => ask(prompt)),
    { samples, max_tokens, temperature },
  );
}

/** The child of a text; or why it has no answer. */
function answered(
  source: GeneratedTasks,
  { parents: [parent], drawn }: Order,
  prompt: string,
  answer: AnswerSource,
  votes: readonly string[],
): Draft | string {
  const { env, data: inherited } = parent!;
  const own = drawn === undefined ? {} : { ...drawn, concepts: [...drawn.concepts] };
  switch (answer.kind) {
    case "inherit": {
      const { answer: same, solution, begin: beginning } = parent!;
      const begin = beginning === undefined ? {} : { begin: beginning };
      const data = withoutLineage(inherited);
      return {
        env,
        prompt,
        data,
        ...begin,
        ...(same === undefined ? {} : { answer: same }),
        ...(solution === undefined ? {} : { solution }),
      };
    }
    case "verifier":
      return source.environment(parent!)?.read?.(prompt) ?? "its environment cannot parse it";
    case "vote": {
      const agreed = majority(votes, answer);
      return agreed === null
        ? "too few attempts agree on an answer"
        : { env, prompt, data: own, answer: agreed };
    }
    case "none":
      return { env, prompt, data: own };
  }
}
