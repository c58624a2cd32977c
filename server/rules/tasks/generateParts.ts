import type { GenerateConfig, StageBody, TaskConfig } from "../../core/config/resolved.ts";
import { eachStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

interface Misfit {
  /** Below `tasks.<index>`. */
  readonly path: readonly string[];
  readonly message: string;
  /** A value in its place that fits. */
  readonly fix?: string;
}

/** Transforms after which the parent's answer is not the child's. */
const newAnswer = new Set(["evolve", "recombine", "concepts", "feedback"]);
/** Transforms that need no author. */
const byItself = new Set(["mask_span", "critique"]);

/** Tasks that no program can make or read: a file's lines. */
const fileOnly = ({ from }: GenerateConfig, tasks: readonly TaskConfig[]): boolean => {
  const sources = tasks.filter(
    ({ name, generate }) => generate === undefined && (from?.includes(name) ?? true),
  );
  return sources.length > 0 && sources.every(({ source }) => source.declaration.name === "dataset");
};

function* misfits(
  { name, generate }: TaskConfig & { readonly generate: GenerateConfig },
  { tasks, reward }: StageBody,
): Iterable<Misfit> {
  const { author, answer, transform, from = [] } = generate;
  const [who, whence, what] = [author, answer, transform].map(({ declaration }) => declaration.name);
  const written = tasks.filter((task) => task.generate === undefined).map((task) => task.name);
  const strange = from.find((one) => !written.includes(one));
  if (strange !== undefined)
    yield {
      path: ["from"],
      message: `\`${strange}\` is not a task that others can be made from: choose ${written.map((one) => `\`${one}\``).join(", ")}.`,
    };
  if (reward.terms.length > 0 && reward.terms.every((term) => term.tasks?.includes(name) === false))
    yield {
      path: [],
      message: `No reward term applies to \`${name}\`: add it to a term's \`tasks\`, next to the tasks that it is made from.`,
    };
  const writes = who !== "program" && !byItself.has(what ?? "");
  const file = fileOnly(generate, tasks);
  if (who === "program" && what === "concepts")
    yield {
      path: ["author"],
      message:
        "A program cannot make tasks from concepts: let a model write them (`author: policy`, `model` or `endpoint`).",
      fix: "policy",
    };
  const fix = "let a model write (`author: policy` or `endpoint`) with `answer: inherit` or `vote`";
  if (file && who === "program" && what !== "concepts" && !byItself.has(what ?? ""))
    yield { path: ["author"], message: `A file of tasks has no program that makes new ones: ${fix}.` };
  if (file && writes && whence === "verifier")
    yield {
      path: ["answer"],
      message: `A file of tasks cannot work out a new task's answer: ${fix}.`,
      fix: newAnswer.has(what ?? "") ? "vote" : "inherit",
    };
  if (writes && whence === "inherit" && newAnswer.has(what ?? ""))
    yield {
      path: ["answer"],
      message: `\`${what}\` makes tasks with other answers, but \`inherit\` gives them their parent's: choose \`verifier\`, \`vote\` or \`none\`.`,
      fix: file ? "vote" : "verifier",
    };
}

export const generateParts: Rule = {
  id: "generate-parts",
  title: "Generated tasks that cannot be made, answered or scored",
  why: "The parts of `generate` must fit the tasks that new ones are made from. The author `program`, the answer `verifier` and the gate `builds` need the environment, which a file of tasks does not have. Only a model can write tasks about concepts. The answer `inherit` is for transforms that keep the answer: an evolved task with its parent's answer teaches mistakes. A reward term that names its tasks must also name the new ones, or they are never scored.",
  check: eachStage((view, model) => {
    const { body } = view.config;
    for (const [index, task] of body.tasks.entries()) {
      const { generate } = task;
      if (generate === undefined) continue;
      for (const { path, message, fix: edit } of misfits({ ...task, generate }, body)) {
        const item = ["tasks", String(index)];
        const where = pathIn(view, placeOf(view.body, ...item), "tasks", task.name, "generate", ...path);
        reportAt(model, view, generateParts, [[...item, "generate", ...path], [...item, "generate"], item], {
          severity: "error",
          message,
          ...(edit === undefined
            ? {}
            : { fileFixes: [model.edits.set(where, edit, `Set \`${path.join(".")}\` to \`${edit}\``)] }),
        });
      }
    }
  }),
};
