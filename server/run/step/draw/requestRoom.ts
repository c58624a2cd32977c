/** Whether what a model of the run is asked in the making of tasks leaves it room to write. */
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Task } from "../../../core/task.ts";
import type { Policy } from "../../../core/policy.ts";
import { asked, type Asking } from "../generate/prompts.ts";

/** Who is asked, and by which part of `generate`. */
export interface RequestSender {
  /** The task source's name. */
  readonly source: string;
  readonly part: "author" | "judge";
  /** Absent: the policy. */
  readonly model?: string | undefined;
}

/** @throws UserError for the first request that fills the model's context */
export function checkRoom(
  requests: readonly Task[],
  { tokenizer, context }: Pick<Policy, "tokenizer" | "context">,
  asking: Asking,
  who: RequestSender,
): void {
  for (const request of requests) {
    const { tokens, prefix } = asked(tokenizer, request, asking);
    const length = tokens.length + (prefix?.length ?? 0);
    if (length >= context) throw noRoom(request.prompt, length, context, who);
  }
}

function noRoom(
  text: string,
  length: number,
  context: number,
  { source, part, model }: RequestSender,
): UserError {
  const generate = `tasks.${source}.generate`;
  const writer = model === undefined ? "the policy" : `the model ${model}`;
  const own = model === undefined || model === "reference" ? "model.context" : `models.${model}.context`;
  const [does, request, other] =
    part === "author"
      ? ["reads to write a task", `${generate}.transform.request`, `${generate}.author: { use: endpoint, … }`]
      : [
          "reads to judge or to answer",
          `the \`request\` in ${generate}.gates and ${generate}.answer`,
          "a server there",
        ];
  return new UserError(
    `what ${writer} ${does} has ${length} tokens, which leaves no room in its context of ${context}: ${JSON.stringify(text.slice(0, 80))}…`,
    {
      code: "request-too-long",
      action: `Shorten ${request}, raise ${own} if the model can, or ask a model with a longer context: ${other}.`,
    },
  );
}
