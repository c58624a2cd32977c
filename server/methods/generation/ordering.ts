/** What an author is asked for: children of families of parents, or of concepts that weak tasks need. */
import type { Task } from "../../core/task.ts";
import { ConceptTable } from "./conceptSampling.ts";
import { conceptsIn, conceptsOf } from "./conceptBook.ts";
import { proportional } from "./drawing.ts";
import type { GeneratedTasks } from "./generatedTasks.ts";
import type { Weighed } from "./memory.ts";
import type { Recipe, Refuse, RoundContext } from "./recipe.ts";
import { cosineWithSum, vectorsOf, type Vectors } from "./similarity.ts";
import type { Concepts, ChildBrief, Embed, Near, RememberedTask } from "../../core/slots/generation.ts";

/** A child that is to be written. */
export interface Order {
  readonly parents: readonly Task[];
  /** What it is asked for by, where that is not its parents. */
  readonly drawn?: ChildBrief;
}

/** Sets of concepts that are drawn again because they were drawn before in the round. */
const again = 20;

// ───────────────────────────────────────────────────────────────── parents

/** Families of parents, drawn as near as the transform wants them. */
export async function familiesOf(
  source: GeneratedTasks,
  { transform: { parents, near }, parents: wanted }: Recipe,
  { random, embed }: RoundContext,
): Promise<RememberedTask[][]> {
  const own = random.fork("parents");
  if (near === undefined) return source.parents(wanted, own, { parents });
  return source.parents(wanted, own, { parents, near: await nearness(source.open(), near, embed) });
}

async function nearness(
  open: readonly Weighed[],
  { measure, temperature }: Near,
  embed: Embed,
): Promise<{ cosine(first: Task, other: Task): number; readonly temperature: number }> {
  const places = new Map(open.map(({ seen }, i) => [seen.task.id, i]));
  const prompts = open.map(({ seen }) => seen.task.prompt);
  const vectors = await vectorsOf(prompts, measure, embed);
  const place = ({ id }: Task): number => places.get(id)!;
  return { cosine: (first, other) => cosineWithSum(vectors, [place(first)], place(other)), temperature };
}

// ───────────────────────────────────────────────────────────────── concepts

/** A kind of task: its weight in the draw, and what its tasks need. */
interface TaskKind {
  readonly name: string;
  readonly weight: number;
  readonly tasks: readonly { readonly task: Task; readonly concepts: readonly string[] }[];
  readonly table: ConceptTable;
  readonly vectors: Vectors;
}

/** One order for each set of concepts: a kind by what its tasks weigh, then concepts that go together in it. */
export async function conceptOrders(
  source: GeneratedTasks,
  concepts: Concepts,
  recipe: Recipe,
  context: RoundContext,
  refuse: Refuse,
): Promise<Order[]> {
  const open = source.open();
  await learn(source, open, concepts, recipe, context);
  const kinds = await kindsOf(source, open, concepts.near, context.embed, refuse);
  if (kinds.length === 0) return [];
  const { size, near, levels } = concepts;
  const seen = new Set<string>();
  return Array.from({ length: recipe.parents }, (_, i): Order[] => {
    const random = context.random.fork("concepts", i);
    for (let n = 0; n < again; n++) {
      const kind =
        kinds[
          proportional(
            kinds.map(({ weight }) => weight),
            random,
          )
        ]!;
      const drawn = kind.table.draw(size, near.temperature, kind.vectors, random);
      const name = JSON.stringify([kind.name, drawn]);
      if (seen.has(name)) continue;
      seen.add(name);
      const parents = drawn.map((one) => kind.tasks.find((task) => task.concepts.includes(one))!.task);
      const level =
        levels.length === 0 ? source.levelOf(parents[0]!) : levels[random.integer(levels.length)]!;
      return [{ parents: [...new Set(parents)], drawn: { concepts: drawn, category: kind.name, level } }];
    }
    refuse("this round has drawn its concepts already");
    return [];
  }).flat();
}

/** Asks about parents whose concepts are not named yet, each once, those of largest weight first. */
async function learn(
  { concepts: book, knows }: GeneratedTasks,
  open: readonly Weighed[],
  { field, ask, max_tokens, most }: Concepts,
  { author }: Recipe,
  { complete }: RoundContext,
): Promise<void> {
  book.keep(knows);
  const unknown = open.filter(({ seen }) => book.of(seen.task.id) === undefined);
  if (field !== undefined) {
    for (const { seen } of unknown) book.learn(seen.task.id, conceptsOf(seen.task, field));
    return;
  }
  if (author.kind === "program") return;
  const asked = [...unknown].sort((a, b) => b.weight - a.weight).slice(0, most);
  const how = { samples: 1, max_tokens, temperature: 0 };
  const said = await complete(
    asked.map(({ seen }) => ask(seen.task)),
    how,
  );
  asked.forEach(({ seen }, i) => book.learn(seen.task.id, conceptsIn(said[i]?.[0] ?? "")));
}

async function kindsOf(
  { concepts: book }: GeneratedTasks,
  open: readonly Weighed[],
  { measure }: Near,
  embed: Embed,
  refuse: Refuse,
): Promise<TaskKind[]> {
  const byName = new Map<string, { weight: number; tasks: { task: Task; concepts: readonly string[] }[] }>();
  for (const { seen, skill, weight } of open) {
    const concepts = book.of(seen.task.id);
    if (concepts === undefined) continue;
    if (concepts.length === 0) {
      refuse("its parent's concepts are unknown");
      continue;
    }
    const own = byName.get(skill) ?? { weight: 0, tasks: [] };
    own.weight += weight;
    own.tasks.push({ task: seen.task, concepts });
    byName.set(skill, own);
  }
  const kinds: TaskKind[] = [];
  for (const [name, own] of byName) {
    const table = new ConceptTable(own.tasks.map(({ concepts }) => concepts));
    kinds.push({ name, ...own, table, vectors: await vectorsOf(table.names, measure, embed) });
  }
  return kinds;
}
