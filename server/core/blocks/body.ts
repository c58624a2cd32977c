/** The blocks of a config: every key, in the order in which they are listed. */
import { z } from "zod";
import { advantage } from "./advantage.ts";
import { auxiliary } from "./auxiliary.ts";
import { checkpoint } from "./checkpoint.ts";
import { curriculum } from "./curriculum.ts";
import { engine } from "./engine.ts";
import { evaluation } from "./evaluation.ts";
import { defaultsOf } from "./field.ts";
import { guidance } from "./guidance.ts";
import { choiceItem, entry, later, list, namedList, value, whole } from "./kinds.ts";
import { kl } from "./kl.ts";
import { model, models } from "./models.ts";
import { objective } from "./objective.ts";
import { replay } from "./replay.ts";
import { reward } from "./reward.ts";
import { rollout } from "./rollout.ts";
import { route } from "./routes.ts";
import { sandbox } from "./sandbox.ts";
import { stageFields } from "./stage.ts";
import { sweep } from "./sweep.ts";
import { tasks } from "./tasks.ts";
import { update } from "./update.ts";

/** The blocks that a stage may override. */
export const body = {
  tasks,
  curriculum,
  rollout,
  guidance,
  reward,
  advantage,
  objective,
  kl,
  route,
  mask: list("mask", choiceItem("mask"), "Which tokens train. Default: those that the model generated."),
  replay,
  auxiliary,
  update,
  sandbox,
};

export const stageItem = entry({ ...stageFields, ...body }, { defaults: defaultsOf(stageFields) });

/** Steps of an rl stage that does not say. */
export const defaultSteps = 100;

/** Every top-level key; `extends` is gone once a config is read. */
export const config = {
  extends: value(
    z.union([z.string(), z.array(z.string())]),
    "What this config builds on: a preset's name, a path, or a list of them. Later ones override earlier ones.",
  ),
  name: value(z.string().min(1), "The run's name; default: the file's stem."),
  seed: value(z.number().int(), "Seed of every random stream.", { default: 1 }),
  steps: value(whole(1), "Steps of the one rl stage that a config without `stages` has."),
  model,
  models,
  ...body,
  stages: namedList("stage", stageItem, "The run's stages in order. Each may override any block."),
  evaluation,
  checkpoint,
  scheduler: later("asynchronous scheduling", "Overlaps generation and training. Not in this version."),
  engine,
  sweep,
  logging: later(
    "options of logging",
    "Options of the run log. Not in this version: every run records everything.",
  ),
};
