/** One round: parents → children → answers → gates. What rolls out and what writes is given. */
import type { Group, Random, Task } from "../seams.ts";
import type { GeneratedTasks } from "./generatedTasks.ts";
import { admitted, examined } from "./gating.ts";
import { withoutLineage } from "./task.ts";
import { majority } from "./majority.ts";
import type { Answer, Author, Complete, Draft, Gate, Seen, Transform } from "./types.ts";

export interface Recipe {
  readonly transform: Transform;
  readonly author: Author;
  readonly answer: Answer;
  readonly gates: readonly Gate[];
  /** Children a round asks for. */
  readonly parents: number;
  /** What lineages call the choices. */
  readonly names: { readonly transform: string; readonly author: string; readonly answer: string };
}

export interface RoundContext {
  readonly random: Random;
  /** Number of the step in the log. */
  readonly step: number;
  /** Whether a prompt leaves the policy room to answer. */
  fits(task: Task): boolean;
  /** Rolls tasks out; one group each, in their order. */
  attempt(tasks: readonly Task[]): Promise<readonly Group[]>;
  /** Scores each task's written solution as a response, a group of one each; undefined: it has none. */
  grade(tasks: readonly Task[]): Promise<readonly (Group | undefined)[]>;
  /** The author's pen, where it writes. */
  readonly complete: Complete;
  /** The policy's pen. */
  readonly policy: Complete;
}

/** What came of a round. */
export interface Round {
  readonly parents: number;
  readonly taken: readonly Task[];
  /** Reason → how many. */
  readonly refused: ReadonlyMap<string, number>;
}

/** A child before the gates. */
export interface Child {
  readonly draft: Draft;
  readonly parents: readonly Task[];
}

export async function round(source: GeneratedTasks, recipe: Recipe, context: RoundContext): Promise<Round> {
  const number = source.round++;
  const random = context.random.fork("round", number);
  const { transform, parents: wanted } = recipe;
  const families = source.parents(wanted, random.fork("parents"), transform);
  const refused = new Map<string, number>();
  const refuse = (reason: string, task?: Task): void => {
    refused.set(reason, (refused.get(reason) ?? 0) + 1);
    if (task !== undefined) source.refuse(task.id);
  };
  const children = await write(source, families, recipe, { ...context, random }, refuse);
  const candidates = examined(source, children, recipe, context, refuse);
  const taken = await admitted(candidates, recipe, context, refuse);
  for (const task of taken) source.take(task);
  return { parents: families.length, taken, refused };
}

/** Counts a reason; a task that is named is not tried again. */
export type Refuse = (reason: string, task?: Task) => void;

// ───────────────────────────────────────────────────────────────── authors

async function write(
  source: GeneratedTasks,
  families: readonly Seen[][],
  recipe: Recipe,
  context: RoundContext,
  refuse: Refuse,
): Promise<Child[]> {
  const { transform, author } = recipe;
  if (transform.make === undefined && author.kind !== "program")
    return written(source, families, recipe, author, context, refuse);
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
        ? "its environment has none that easy or that hard"
        : "its parent gives none",
    );
    return [];
  });
}

const tasksOf = (family: readonly Seen[]): Task[] => family.map(({ task }) => task);

async function written(
  source: GeneratedTasks,
  families: readonly Seen[][],
  { transform, answer }: Recipe,
  { max_tokens, temperature }: Exclude<Author, { kind: "program" }>,
  { complete }: RoundContext,
  refuse: Refuse,
): Promise<Child[]> {
  const feedback = source.feedback();
  const requests = families.map((family) => transform.ask(tasksOf(family), feedback));
  const texts = await complete(requests, { samples: 1, max_tokens, temperature });
  const children = families.map((family, i) => ({
    parents: tasksOf(family),
    prompt: (texts[i]?.[0] ?? "").trim(),
  }));
  const said = children.filter(({ prompt }) => {
    if (prompt === "") refuse("nothing was written");
    return prompt !== "";
  });
  const votes =
    answer.kind === "vote"
      ? await complete(
          said.map(({ prompt }) => prompt),
          { samples: answer.samples, max_tokens, temperature },
        )
      : [];
  return said.flatMap(({ parents, prompt }, i): Child[] => {
    const draft = answered(source, parents[0]!, prompt, answer, votes[i] ?? []);
    if (typeof draft === "object") return [{ draft, parents }];
    refuse(draft);
    return [];
  });
}

/** The child of a text; or why it has no answer. */
function answered(
  source: GeneratedTasks,
  parent: Task,
  prompt: string,
  answer: Answer,
  votes: readonly string[],
): Draft | string {
  const { env } = parent;
  const data = withoutLineage(parent.data);
  switch (answer.kind) {
    case "inherit": {
      const { answer: same, solution } = parent;
      const begin = parent.begin === undefined ? {} : { begin: parent.begin };
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
      return source.environment(parent)?.read?.(prompt) ?? "its environment cannot read it";
    case "vote": {
      const agreed = majority(votes, answer);
      return agreed === null
        ? "too few attempts agree on an answer"
        : { env, prompt, data: {}, answer: agreed };
    }
    case "none":
      return { env, prompt, data: {} };
  }
}
