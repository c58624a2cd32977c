/** Blocks and keys of a config that other trainers have nothing for. */
import type { StageBody } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import { nameOf, type Chosen, type SettingsDraft } from "./exportDraft.ts";

/** A choice that does nothing under one name. */
interface Idle {
  readonly key: string;
  readonly of: (body: StageBody) => Chosen;
  readonly idle: string;
  /** ENGINE is the trainer's name. */
  readonly reason: string;
}

const choices: readonly Idle[] = [
  {
    key: "curriculum.admission",
    of: ({ curriculum }) => curriculum.admission,
    idle: "none",
    reason: "ENGINE trains on every group that it generates: none is rejected.",
  },
  {
    key: "curriculum.budget",
    of: ({ curriculum }) => curriculum.budget,
    idle: "fixed",
    reason: "ENGINE generates as many responses for every prompt.",
  },
  {
    key: "curriculum.start",
    of: ({ curriculum }) => curriculum.start,
    idle: "prompt",
    reason: "ENGINE's responses begin at the prompt.",
  },
  {
    key: "guidance.trigger",
    of: ({ guidance }) => guidance.trigger,
    idle: "none",
    reason: "ENGINE helps no response: all are the policy's own.",
  },
  {
    key: "rollout.shape",
    of: ({ rollout }) => rollout.shape,
    idle: "single",
    reason: "The exported trainer asks for one response to a prompt.",
  },
  {
    key: "rollout.branch",
    of: ({ rollout }) => rollout.branch,
    idle: "none",
    reason: "ENGINE's responses do not branch.",
  },
  {
    key: "replay",
    of: ({ replay }) => replay.source,
    idle: "none",
    reason: "ENGINE trains each response in its own step alone.",
  },
  {
    key: "replay.select",
    of: ({ replay }) => replay.select,
    idle: "all",
    reason: "ENGINE trains on all responses of a step.",
  },
];

export function blocks(
  config: RunConfig,
  { body, ...stage }: StageConfig,
  draft: SettingsDraft,
  { except = new Set() }: { readonly except?: ReadonlySet<string> } = {},
): void {
  const { engine } = draft;
  for (const { key, of, idle, reason } of choices) {
    const name = nameOf(of(body));
    if (name !== idle && !except.has(key)) draft.miss(key, name, reason.replaceAll("ENGINE", engine));
  }
  const { sampler } = body.curriculum;
  // What takes something of the other parts draws by what was observed.
  if ((sampler.declaration.takes ?? []).length > 0)
    draft.miss(
      "curriculum.sampler",
      nameOf(sampler),
      "The prompts are drawn before anything is observed: arms keep their first probabilities.",
    );
  if (body.replay.updates > 1)
    draft.miss(
      "replay.updates",
      body.replay.updates,
      `${engine} trains on each generation \`update.epochs\` times.`,
    );
  if (body.rollout.use === "harness")
    draft.miss(
      "rollout.use",
      "harness",
      `${engine} generates one response itself: the program is not started.`,
    );
  for (const tool of body.rollout.tools)
    draft.miss("rollout.tools", nameOf(tool), "The exported trainer gives the policy no tools.");
  for (const one of body.auxiliary)
    if (!except.has(`auxiliary.${nameOf(one.loss)}`))
      draft.miss("auxiliary", nameOf(one.loss), `${engine} has one loss.`);
  for (const one of body.route) draft.miss("route", one, `${engine} trains all completions by one loss.`);
  for (const { name, generate } of body.tasks)
    if (generate !== undefined)
      draft.miss(
        `tasks.${name}.generate`,
        name,
        `No tasks are made while ${engine} trains: there are none of these.`,
      );
  for (const { name } of config.models)
    if (!except.has(`models.${name}`))
      draft.miss(`models.${name}`, name, `${engine} has the policy and its reference, and no other model.`);
  stages(config, stage, draft);
  const { keep } = config.evaluation;
  if (keep !== undefined)
    draft.miss("evaluation.keep", keep, `${engine} undoes no update that an evaluation finds worse.`);
  const { best } = config.checkpoint;
  if (best !== undefined)
    draft.miss(
      "checkpoint.best",
      best,
      "The latest checkpoints are kept, and none by an evaluation.",
      "nothing-trained",
    );
}

function stages(config: RunConfig, { name, until }: Omit<StageConfig, "body">, draft: SettingsDraft): void {
  for (const other of config.stages)
    if (other.name !== name)
      draft.miss(
        `stages.${other.name}`,
        other.kind,
        `${draft.engine} trains one stage, here \`${name}\`: ${other.kind === "sft" ? "train this one before, and name its model" : "this one is left out"}.`,
      );
  if (until !== undefined)
    draft.miss(`stages.${name}.until`, until, `${draft.engine} trains all steps, whatever is measured.`);
}
