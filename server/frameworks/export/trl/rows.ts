/** train.parquet: the prompts in the order in which the run would draw them. */
import { contextOf } from "../../../algorithm/algorithm.ts";
import { Curriculum } from "../../../algorithm/curriculum/curriculum.ts";
import { openSources } from "../../../algorithm/curriculum/openSources.ts";
import { noModels } from "../../../analysis/rescore/noModels.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { Task } from "../../../core/task.ts";
import { randomStream } from "../../../lib/random.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { TrlPlan } from "./plan.ts";

/** Beyond so many, TRL begins again with the first. */
const mostRows = 200_000;

/** Columns of TRL's own. */
const taken: ReadonlySet<string> = new Set([
  "prompt",
  "prompts",
  "completion",
  "completions",
  "completion_ids",
]);

export interface Rows {
  readonly rows: readonly JsonObject[];
  /** Prompts of the data are lists of messages. */
  readonly messages: boolean;
  /** Prompts that all steps would draw. */
  readonly wanted: number;
  /** What stands at the beginning of some response. */
  readonly begun: boolean;
}

/** @throws UserError where a source of tasks cannot be opened */
export async function drawnRows(config: RunConfig, { stage }: TrlPlan): Promise<Rows> {
  const { body, steps } = stage;
  const context = contextOf(body, { random: randomStream(config.seed, "methods"), models: noModels });
  const curriculum = new Curriculum(body.curriculum, openSources(body.tasks, context), context);
  const { prompts } = body.rollout;
  const before = config.stages.slice(0, config.stages.indexOf(stage));
  const first = before.reduce((sum, one) => sum + one.steps, 0);
  const found: { readonly task: Task; readonly arm: string }[] = [];
  for (let step = 0; step < steps && found.length + prompts <= mostRows; step++) {
    const random = randomStream(config.seed, "draw", first + step, 0);
    const drawn = await curriculum.draw(prompts, random, { step, stageStep: step });
    found.push(...drawn);
    if (drawn.length < prompts) break;
  }
  return {
    rows: found.map(({ task, arm }) => rowOf(task, arm)),
    messages: found.some(({ task }) => Array.isArray(task.data["prompt"])),
    wanted: prompts * steps,
    begun: found.some(({ task }) => task.begin !== undefined),
  };
}

/** The fields of the task's data, with the answer that its rewards compare with. */
function rowOf({ prompt, answer, data, source }: Task, arm: string): JsonObject {
  const fields = Object.fromEntries(Object.entries(data).filter(([key]) => !taken.has(key)));
  const own = fields["answer"];
  return {
    prompt,
    ...fields,
    ...(answer === undefined || own !== undefined ? {} : { answer }),
    ...(answer === undefined || own === undefined || own === answer ? {} : { gradus_answer: answer }),
    gradus_source: source,
    gradus_arm: arm,
  };
}
