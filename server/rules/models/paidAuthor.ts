import type { GenerateConfig, StageBody } from "../../core/config/resolved.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

interface Written {
  /** Place in `tasks`. */
  readonly index: number;
  readonly name: string;
  readonly generate: GenerateConfig;
}

/** The sources whose tasks a model writes. */
const writtenBy = ({ tasks }: StageBody, model: unknown): Written[] =>
  tasks.flatMap(({ name, generate }, index) =>
    generate?.author.declaration.name === "model" && generate.author.params["model"] === model
      ? [{ index, name, generate }]
      : [],
  );

interface Problem {
  readonly message: string;
  /** A key of `generate` that fixes it, of one of the model's sources. */
  readonly fix?: { readonly of: Written; readonly key: string; readonly value: string };
}

/** What keeps a model from being paid; undefined: nothing. */
function problemOf(body: StageBody, model: string): Problem | undefined {
  const sources = writtenBy(body, model);
  const [first] = sources;
  if (first === undefined)
    return {
      message: `\`${model}\` writes no tasks: give a task \`generate: { author: { use: model, model: ${model} }, joins: step, children: 4 }\`.`,
    };
  const paid = sources.filter(({ generate }) => generate.joins === "step");
  const [one] = paid;
  if (one === undefined)
    return {
      message: `Later steps draw the tasks of \`${first.name}\`, but an author is rewarded in the step it writes in: set \`joins: step\`.`,
      fix: { of: first, key: "joins", value: "step" },
    };
  if (paid.some(({ generate }) => generate.children > 1)) return undefined;
  return {
    message: `\`${model}\` writes one text for each request, which has no other to be compared with: set \`children\` to 2 or more.`,
    fix: { of: one, key: "children", value: "4" },
  };
}

function check(model: ConfigModel, view: StageView, index: number, author: string): void {
  const found = problemOf(view.config.body, author);
  if (found === undefined) return;
  const { message, fix } = found;
  const at = ["auxiliary", String(index)];
  reportAt(model, view, paidAuthor, [[...at, "model"], at], {
    severity: "error",
    message,
    fileFixes: fix === undefined ? [] : [edit(model, view, fix)],
  });
}

function edit(model: ConfigModel, view: StageView, { of, key, value }: NonNullable<Problem["fix"]>) {
  const origin = placeOf(view.body, "tasks", String(of.index));
  const where = pathIn(view, origin, "tasks", of.name, "generate", key);
  return model.edits.set(where, value, `Set \`${key}: ${value}\` for \`${of.name}\``);
}

/** An author learns from tasks of the step that it wrote, several texts for each request. */
export const paidAuthor: Rule = {
  id: "paid-author",
  title: "Author that is never rewarded",
  why: "An author of `auxiliary` trains the model that writes tasks by what these earn in the same step. So some task source must have that model as its author (`generate.author: { use: model, model: writer }`), its tasks must join the step (`joins: step`), and each request needs several texts (`children: 4`): a text learns from the others for the same request.",
  check: eachRlStage((view, model) => {
    for (const [index, { loss }] of view.config.body.auxiliary.entries())
      if (loss.declaration.name === "author") check(model, view, index, String(loss.params["model"]));
  }),
};
