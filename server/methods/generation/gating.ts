/** Children at the gates: what costs nothing first, then written solutions, then judges, then tries. */
import { createHash } from "node:crypto";
import type { Task } from "../../core/task.ts";
import { splitOf } from "../../core/split.ts";
import type { GeneratedTasks } from "./generatedTasks.ts";
import type { Child, Recipe, Refuse, RoundContext, TextTasks } from "./recipe.ts";
import { lineageOf, withLineage } from "./task.ts";
import type { Candidate, Draft, Gate } from "../../core/slots/generation.ts";

export type Waiting = Omit<Candidate, "tried"> &
  Partial<Pick<Candidate, "tried">> & { readonly parents: readonly Task[] };

/** A name that equal tasks share: the environment's own, or that of the prompt and the answer. */
const nameOf = (source: string, { id, prompt, answer }: Draft): string =>
  id ??
  `${source}:${createHash("sha256")
    .update(JSON.stringify([prompt, answer ?? null]))
    .digest("hex")
    .slice(0, 16)}`;

/** Children that are new, with what their environment reads in them. */
export function examined(
  source: GeneratedTasks,
  children: readonly Child[],
  { gates }: Recipe,
  { fits, texts }: Pick<RoundContext, "fits"> & { readonly texts?: TextTasks },
  refuse: Refuse,
): Waiting[] {
  const seen = new Set<string>();
  return children.flatMap(({ draft, parents, text }): Waiting[] => {
    const [parent] = parents;
    const environment = source.environment(parent!);
    const read = environment?.read === undefined ? undefined : environment.read(draft.prompt);
    const id = draft.id ?? read?.id ?? nameOf(source.name, draft);
    const task: Task = { ...draft, id, source: source.name };
    const again = draft.prompt === parent!.prompt;
    // A task in other words must not let the run train on what evaluation asks.
    const held = splitOf(id) === "evaluate" && (draft.id ?? read?.id) !== undefined;
    if (text !== undefined) texts?.set(text, again ? parent!.id : held ? null : id);
    if (seen.has(id) || source.knows(id) || again) {
      refuse("the task exists already");
      return [];
    }
    seen.add(id);
    if (held) {
      refuse("evaluation uses it", task);
      return [];
    }
    if (!fits(task)) {
      refuse("its prompt leaves no room for an answer in the model's context", task);
      return [];
    }
    return passing([{ task, parent: parent!, parents, read }], gates.filter(plain), () => ({}), refuse);
  });
}

/** A gate that asks for nothing but the text. */
const plain = ({ tries, gold, panel }: Gate): boolean => !tries && gold !== true && panel === undefined;

/** Those that pass a kind of gates; the others are refused by the first reason. */
function passing(
  candidates: readonly Waiting[],
  gates: readonly Gate[],
  measured: (i: number) => Partial<Candidate>,
  refuse: Refuse,
): Waiting[] {
  return candidates.flatMap((candidate, i): Waiting[] => {
    const known = { ...candidate, ...measured(i) };
    for (const gate of gates) {
      const verdict = gate.admit({ tried: undefined, ...known });
      if (verdict.admitted) continue;
      refuse(verdict.reason, candidate.task);
      return [];
    }
    return [known];
  });
}

const tasksOf = (candidates: readonly Waiting[]): Task[] => candidates.map(({ task }) => task);

export async function admitted(
  candidates: readonly Waiting[],
  { gates, names }: Recipe,
  context: RoundContext,
  refuse: Refuse,
): Promise<Task[]> {
  let left = candidates;
  const gold = gates.filter((gate) => gate.gold === true);
  if (gold.length > 0) {
    const groups = await context.grade(tasksOf(left));
    left = passing(left, gold, (i) => ({ gold: groups[i] }), refuse);
  }
  for (const gate of gates) {
    const said = await verdictsOf(gate, left, context);
    if (said !== undefined) left = passing(left, [gate], (i) => ({ said: said[i]! }), refuse);
  }
  const trying = gates.filter(({ tries }) => tries);
  if (trying.length > 0) {
    const groups = await context.attempt(tasksOf(left));
    left = passing(left, trying, (i) => ({ tried: groups[i] }), refuse);
  }
  return left.map((candidate) => born(candidate, names, context.step));
}

/** What a gate's judges say of each candidate; undefined: it has none. */
async function verdictsOf(
  { panel }: Gate,
  candidates: readonly Waiting[],
  { policy }: RoundContext,
): Promise<readonly (readonly string[])[] | undefined> {
  if (panel === undefined) return undefined;
  const requests = candidates.map(({ task }) => panel.ask(task));
  const how = { samples: 1, max_tokens: panel.max_tokens, temperature: panel.temperature ?? 1 };
  const said: string[][] = requests.map(() => []);
  for (const judge of panel.judges) {
    const complete = judge === "policy" ? policy : judge;
    const texts = await complete(requests, how);
    said.forEach((own, i) => own.push(texts[i]?.[0] ?? ""));
  }
  return said;
}

function born({ task, parents, tried }: Waiting, names: Recipe["names"], step: number): Task {
  return withLineage(task, {
    parents: parents.map(({ id }) => id),
    generation: 1 + Math.max(...parents.map((parent) => lineageOf(parent)?.generation ?? 0)),
    step,
    ...names,
    tried: tried === undefined ? null : { successes: tried.successes, rollouts: tried.rewards.length },
  });
}
