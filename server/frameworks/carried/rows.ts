/** Rows of the prompts: those that train in the order in which the run would draw them, and those of its evaluations. */
import { contextOf } from "../../algorithm/algorithm.ts";
import { Curriculum } from "../../algorithm/curriculum/curriculum.ts";
import { evaluationTasks } from "../../algorithm/curriculum/evaluationTasks.ts";
import { openSources } from "../../algorithm/curriculum/openSources.ts";
import { noModels } from "../../analysis/rescore/noModels.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { Task } from "../../core/task.ts";
import { randomStream } from "../../lib/random.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { Missing } from "../lens/exporter.ts";

/** Beyond so many, the trainer begins again with the first. */
const mostRows = 200_000;

export interface Drawn {
  readonly task: Task;
  readonly arm: string;
}

export interface Rows {
  readonly drawn: readonly Drawn[];
  /** Prompts of the data are lists of messages. */
  readonly messages: boolean;
  /** Prompts that all steps would draw. */
  readonly wanted: number;
  /** What stands at the beginning of some response. */
  readonly begun: boolean;
}

/** @throws UserError where a source of tasks cannot be opened */
export async function drawnRows(config: RunConfig, stage: StageConfig): Promise<Rows> {
  const { body, steps } = stage;
  const context = contextOf(body, { random: randomStream(config.seed, "methods"), models: noModels });
  const curriculum = new Curriculum(body.curriculum, openSources(body.tasks, context), context);
  const { prompts } = body.rollout;
  const before = config.stages.slice(0, config.stages.indexOf(stage));
  const first = before.reduce((sum, one) => sum + one.steps, 0);
  const found: Drawn[] = [];
  for (let step = 0; step < steps && found.length + prompts <= mostRows; step++) {
    const random = randomStream(config.seed, "draw", first + step, 0);
    const drawn = await curriculum.draw(prompts, random, { step, stageStep: step });
    found.push(...drawn);
    if (drawn.length < prompts) break;
  }
  return {
    drawn: found,
    messages: found.some(({ task }) => Array.isArray(task.data["prompt"])),
    wanted: prompts * steps,
    begun: found.some(({ task }) => task.begin !== undefined),
  };
}

/** What the trainer makes of these rows that the config does not mean. */
export function missingRows({ drawn, wanted, begun }: Rows, engine: string): Missing[] {
  const short = {
    key: "steps",
    value: `${wanted} prompts`,
    reason: `train.parquet has ${drawn.length} prompts: after them ${engine} begins again with the first.`,
    changes: "nothing-trained",
  } as const;
  const begin = {
    key: "tasks",
    value: "begin",
    reason: `${engine} cannot begin a response for the policy: it writes what its tasks would have begun with.`,
    changes: "algorithm",
  } as const;
  return [...(drawn.length < wanted ? [short] : []), ...(begun ? [begin] : [])];
}

/** For a trainer that asks for held-out prompts: where no task is held out, those of the first step. */
export function evaluated(config: RunConfig, { drawn }: Rows): readonly Drawn[] {
  const { top, seed } = config;
  const context = contextOf(top, { random: randomStream(seed, "methods"), models: noModels });
  const found = evaluationTasks(config, context);
  return found.length > 0
    ? found.map(({ task }) => ({ task, arm: "" }))
    : drawn.slice(0, top.rollout.prompts);
}

/** The markers that a chat template puts around messages. */
const template = 256;

/**
 * No prompt has more tokens than bytes.
 * @param room tokens that the model has for it, where that is known
 * @param other bytes of the longest prompt that may be asked besides
 */
export function longestPrompt(
  drawn: readonly Drawn[],
  { rollout }: StageConfig["body"],
  room: number | undefined,
  other = 0,
): number {
  const own = Buffer.byteLength(rollout.system ?? "") + template;
  const bytes = drawn.reduce((most, { task }) => Math.max(most, Buffer.byteLength(task.prompt)), other) + own;
  const rounded = Math.ceil(bytes / 64) * 64;
  return room === undefined ? rounded : Math.max(1, Math.min(rounded, room));
}
