/** Steps of supervised stages: written solutions (`sft`), and plain text of which every token trains (`pretrain`). */
import { UserError } from "../../../shared/lib/errors.ts";
import { rateAt } from "../../core/blocks/learningRate.ts";
import { randomStream } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Tokenizer } from "../../core/policy.ts";
import { drawByWeight } from "./byWeight.ts";
import type { StepContext } from "../step/context.ts";
import { measureMemory, measureUpdates } from "../step/log/measure.ts";
import { batchOfPieces } from "./demonstrations.ts";
import { likelihood, solved } from "./supervised.ts";

/** The tasks of a supervised step: by their sources' weights, whatever the curriculum has learned. */
export function drawnTasks({ session, stage, step, clock }: StepContext): Task[] {
  const random = randomStream(session.config.seed, "supervised", step);
  return drawByWeight(stage.curriculum, stage.config.batch, random, clock).map(({ task }) => task);
}

export const solutionStep = (context: StepContext): Promise<Record<string, number>> =>
  learnFrom(
    context,
    solved(drawnTasks(context), context.session.policy.tokenizer, context.stage.config.body.rollout),
  );

export const textStep = (context: StepContext): Promise<Record<string, number>> => {
  const { policy } = context.session;
  const rows = drawnTasks(context).map((task) => pieceOf(task, policy.tokenizer, policy.context));
  return learnFrom(context, batchOfPieces(rows));
};

/** All that a task says as one text: of a corpus the whole piece, else its prompt and its written solution. */
const textOf = ({ data, prompt, solution }: Task): string => {
  const { text } = data;
  return typeof text === "string" ? text : prompt + (solution ?? "");
};

/** As much of the text as the model can look at; what the model's texts begin with comes first. */
function pieceOf(task: Task, tokenizer: Tokenizer, context: number): Int32Array {
  const tokens = [...(tokenizer.prefix ?? []), ...tokenizer.encode(textOf(task))].slice(0, context);
  if (tokens.length >= 2) return Int32Array.from(tokens);
  throw new UserError(
    `a text of source ${task.source} has fewer than two tokens: there is no token to predict`,
    { code: "text-short", action: "Lengthen the texts of the corpus, or its `length`." },
  );
}

async function learnFrom(context: StepContext, batch: Batch): Promise<Record<string, number>> {
  const { session, stage, clock, watch } = context;
  session.signal.throwIfAborted();
  const plan = {
    channels: ["logp"],
    unit: "sequence",
    lr_scale: rateAt(stage.config.body.update.schedule, clock),
  } as const;
  const update = await watch.time("update", () =>
    session.models.get("policy").update(batch, plan, likelihood),
  );
  return { ...measureUpdates([update]), ...measureMemory(session), ...watch.metrics() };
}
