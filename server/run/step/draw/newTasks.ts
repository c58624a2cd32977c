/** Tasks that a stage makes of those it has rolled out: before the step's own are drawn, so that nothing is trained yet. */
import { UserError } from "../../../../shared/lib/errors.ts";
import { create } from "../../../core/create.ts";
import { readerOf } from "../../../core/policy.ts";
import type { GenerateConfig } from "../../../core/config/resolved.ts";
import { GeneratedTasks } from "../../../methods/generation/generatedTasks.ts";
import type { Recipe } from "../../../methods/generation/recipe.ts";
import { round, type Round } from "../../../methods/generation/round.ts";
import { lineageOf } from "../../../methods/generation/task.ts";
import type { Author, Complete, Embed } from "../../../core/slots/generation.ts";
import { randomStream } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import type { Batch, Group } from "../../../core/rollouts.ts";
import type { StepContext } from "../context.ts";
import type { Recorder } from "../log/recorder.ts";
import { asked } from "../generate/prompts.ts";
import { completing, penOf } from "./pen.ts";
import type { Session } from "../../loop/session.ts";
import { graded, pilotGroups } from "./pilots.ts";
import type { CreateContext } from "../../../core/declaration.ts";

/** A round, with what a model of the run wrote for its children. */
interface Made extends Round {
  readonly written: Batch | undefined;
}

/** A round of making tasks, reported in the log; undefined where it failed, which is reported as well. */
async function attempted(
  context: StepContext,
  source: GeneratedTasks,
  generate: GenerateConfig,
): Promise<Made | undefined> {
  try {
    const found = await once(context, source, generate);
    report(context, source, found);
    return found;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    context.session.recorder.event(
      "warning",
      "tasks-not-made",
      `No new tasks were made for ${source.name}: ${error.message}`,
      { step: context.step, action: error.detail.action },
    );
    return undefined;
  }
}

/** Tasks made of those that a step has rolled out, for its own batch alone. */
export async function tasksOfStep(context: StepContext, groups: readonly Group[]): Promise<Task[]> {
  const { stage, clock } = context;
  const found: Task[] = [];
  for (const { config, source } of stage.curriculum.sources) {
    const generate = stage.config.body.tasks.find(({ name }) => name === config.name)?.generate;
    if (generate?.joins !== "step" || !(source instanceof GeneratedTasks)) continue;
    if (!due(generate, clock.stageStep, source)) continue;
    const made = await attempted(context, source.ofStep(groups, clock), generate);
    found.push(...(made?.taken ?? []));
    const { author } = generate;
    if (made?.written !== undefined && author.declaration.name === "model")
      stage.auxiliary.wrote({
        model: String(author.params["model"]),
        step: context.step,
        batch: made.written,
        tasks: made.texts,
      });
  }
  return found;
}

/** Makes the tasks that are due. A failure is reported, and the run continues without new tasks. */
export async function makeTasks(context: StepContext): Promise<void> {
  const { stage, clock } = context;
  const made: [GeneratedTasks, Round][] = [];
  for (const { config, source } of stage.curriculum.sources) {
    const generate = stage.config.body.tasks.find(({ name }) => name === config.name)?.generate;
    if (generate === undefined || !(source instanceof GeneratedTasks)) continue;
    if (generate.joins === "step" || !due(generate, clock.stageStep, source)) continue;
    const found = await attempted(context, source, generate);
    if (found !== undefined) made.push([source, found]);
  }
  stage.curriculum.grow();
  for (const [source, { taken }] of made) reportArmless(context, source.name, taken);
}

/** Whether a stage makes tasks before its step of that number, after so many rounds. */
function due(
  { every, joins, first = joins === "step" ? 0 : every, rounds }: GenerateConfig,
  step: number,
  { round: done }: GeneratedTasks,
): boolean {
  if (rounds !== undefined && done >= rounds) return false;
  return step >= first && (step - first) % every === 0;
}

/** Tasks of which no arm can be: they are kept and never drawn. */
function reportArmless({ stage, session, step }: StepContext, source: string, taken: readonly Task[]): void {
  const { curriculum } = stage;
  const armless = taken.filter((task) => curriculum.isArmless(task));
  if (armless.length === 0) return;
  const names = [...new Set(armless.map((task) => curriculum.familyOf(task)))];
  session.recorder.event(
    "warning",
    "tasks-without-arm",
    `${source}: ${armless.length} of ${taken.length} new tasks belong to no arm, so they are never drawn: there is no ${names.join(", ")}.`,
    {
      step,
      action:
        "Choose curriculum.arms that have an arm for them, e.g. task or prompt, or a transform that stays within the existing arms.",
      data: { source, tasks: armless.map(({ id }) => id) },
    },
  );
}

async function once(context: StepContext, source: GeneratedTasks, generate: GenerateConfig): Promise<Made> {
  const { session, step, stage } = context;
  const recipe = recipeOf(generate, {
    random: randomStream(session.config.seed, "generate"),
    max_tokens: stage.config.body.rollout.max_tokens,
    group: stage.config.body.rollout.group,
  });
  const key = ["tasks", source.name, source.round] as const;
  let written: Batch | undefined;
  const pens = pensOf(context, key, source.name, recipe.author, (batch) => (written = batch));
  const made = await round(source, recipe, {
    random: randomStream(session.config.seed, "tasks", source.name),
    step,
    attempt: (tasks) =>
      pilotGroups(
        context,
        tasks.map((task) => ({ task, arm: source.name })),
        { samples: generate.tries },
        [...key, "try"],
      ),
    fits: (task) => fits(context, task),
    grade: (tasks) => graded(context, tasks, source.name),
    ...pens,
    policy: completing(penOf(context, key, { source: source.name, part: "judge" })),
    embed: (texts, how) => context.watch.time("score", () => embedded(session, texts, how)),
  });
  return { ...made, written };
}

/** The author's pens: for what is asked beside the children, and for the children, which `keep` takes. */
function pensOf(
  context: StepContext,
  key: readonly (string | number)[],
  source: string,
  author: Author,
  keep: (batch: Batch) => void,
): { readonly complete: Complete; readonly write?: Complete } {
  if (author.kind === "endpoint") return { complete: author.complete };
  const model = author.kind === "policy" ? author.model : undefined;
  const pen = penOf(context, key, { source, part: "author", model });
  return { complete: completing(pen), write: completing(pen, keep) };
}

/** Texts, each followed by an end token, as vectors of a model. What its context does not hold is left out. */
function embedded(
  { models }: Session,
  texts: readonly string[],
  { model, pooling }: Parameters<Embed>[1],
): Promise<readonly Float32Array[]> {
  const reader = readerOf(models, model);
  const { tokenizer, context } = reader;
  const rows = texts.map((text) => {
    const tokens = [...(tokenizer.prefix ?? []), ...tokenizer.encode(text)].slice(0, context - 2);
    return Int32Array.from([...tokens, tokenizer.eos]);
  });
  return reader.embed(rows, pooling, model);
}

const recipeOf = (generate: GenerateConfig, context: CreateContext): Recipe => ({
  transform: create(generate.transform, context),
  author: create(generate.author, context),
  answer: create(generate.answer, context),
  gates: generate.gates.map((gate) => create(gate, context)),
  parents: generate.parents,
  children: generate.children,
  names: {
    transform: generate.transform.declaration.name,
    author: generate.author.declaration.name,
    // A program's tasks bring their own.
    answer: (generate.author.declaration.name === "program" ? generate.author : generate.answer).declaration
      .name,
  },
});

function fits({ session, stage }: StepContext, task: Task): boolean {
  const { policy } = session;
  const { tokens, prefix } = asked(policy.tokenizer, task, stage.config.body.rollout);
  return tokens.length + (prefix?.length ?? 0) < policy.context;
}

function report({ session, step }: StepContext, source: GeneratedTasks, made: Round): void {
  const { parents, taken, refused } = made;
  const reasons = [...refused].map(([reason, count]) => `${count}× ${reason}`).join("; ");
  const missed = reasons === "" ? "" : ` Rejected: ${reasons}.`;
  const none = reasons === "" ? "the selector found no parent among the tasks seen so far" : reasons;
  const message =
    parents === 0
      ? `${source.name}: no new task was asked for: ${none}.`
      : `${source.name}: ${taken.length} of ${parents} new tasks were accepted.${missed}`;
  const nothing = taken.length === 0 && (parents > 0 || reasons !== "");
  session.recorder.event(nothing ? "warning" : "info", "tasks-made", message, {
    step,
    ...(nothing
      ? { action: `Look at tasks.${source.name}.generate: another transform or author, or wider gates.` }
      : {}),
    data: { source: source.name, refused: Object.fromEntries(refused), tasks: taken.map(({ id }) => id) },
  });
  for (const task of taken) recordTask(session.recorder, step, task);
}

function recordTask(recorder: Recorder, step: number, task: Task): void {
  const lineage = lineageOf(task);
  if (lineage === undefined) return;
  const { parents, generation, transform, author, answer: answered, tried } = lineage;
  const { source, id, prompt, answer = null } = task;
  const origin = { parents, generation, transform, author, answered, tried };
  recorder.append({ kind: "task", step, source, id, prompt, answer, ...origin });
}
