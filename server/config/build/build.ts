/** From a checked config to what the run reads. Only called on a config without errors. */
import { basename } from "node:path";
import type { JsonObject } from "../../../shared/lib/json.ts";
import { body, config } from "../../core/blocks/body.ts";
import { build, type CheckedValue } from "../../core/blocks/field.ts";
import { laidOut, type RateSchedule } from "../../core/blocks/learningRate.ts";
import { stageOptions } from "../../core/blocks/stage.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { Checker } from "../check/check.ts";
import { child, type SourceNode } from "../text/node.ts";
import { checkedValue, type CheckedTree } from "./reader.ts";
import type { BuiltTop, StageTree } from "./types.ts";

const { update, ...others } = body;

/** `steps` is what a learning rate's course spans. A block that a stage shares with the top level is the very same. */
export function buildBody(tree: CheckedTree, steps: number, top?: BuiltTop): StageBody {
  const at = checkedValue(tree);
  const isShared = (block: string): boolean => child(tree.node, block) === child(top?.tree.node, block);
  const blocks = build(others, at, top && picked(top.body, isShared));
  const known =
    steps === top?.steps && isShared("update") && isShared("rollout") ? top.body.update : undefined;
  return { ...blocks, update: known ?? buildUpdate(at, blocks.rollout, { steps, stage: isOwnCourse(tree) }) };
}

/** The members of an object whose keys are wanted. */
function picked<Thing extends object>(thing: Thing, wanted: (key: string) => boolean): Partial<Thing>;
function picked(thing: object, wanted: (key: string) => boolean): unknown {
  return Object.fromEntries(Object.entries(thing).filter(([key]) => wanted(key)));
}

const scheduleOf = ({ node }: CheckedTree): SourceNode | undefined =>
  child(child(child(node, "update"), "optimizer"), "schedule");

/** Whether a stage wrote the learning rate's course: then the course spans that stage. */
export const isOwnCourse = (tree: CheckedTree): boolean => scheduleOf(tree)?.origin.stage !== undefined;

function buildUpdate(
  at: CheckedValue,
  { prompts, group }: StageBody["rollout"],
  span: { readonly steps: number; readonly stage: boolean },
): StageBody["update"] {
  const read = update.read(at.below("update"));
  const { mini_batch, epochs, schedule, optimizer } = read;
  const rollouts = prompts * group;
  // Warm-up counts optimiser steps, of which a step of the run may hold several.
  const each = epochs * Math.ceil(rollouts / Math.min(rollouts, mini_batch ?? rollouts));
  const warmup = Math.ceil(Number(optimizer.params["warmup"] ?? 0) / each);
  const course: RateSchedule =
    typeof schedule === "object" && "schedule" in schedule
      ? schedule
      : laidOut(schedule, { ...span, warmup });
  return { ...read, schedule: course };
}

/** @param json the stage's own keys, as written */
export function buildStage(
  json: JsonObject,
  checker: Checker,
  stage: StageTree,
  body: StageBody,
): StageConfig {
  const { name, kind, steps, turns, part, refreshes } = stage;
  const read = build(stageOptions, checkedValue({ node: stage.written ?? stage.body, json, checker }));
  const models = [...new Set([...refreshes, ...read.on_enter.models])];
  return { ...read, name, kind, steps, on_enter: { ...read.on_enter, models }, body, turns, part };
}

const { name, seed, model, models, evaluation, checkpoint, engine, sweep } = config;
const runFields = { name, seed, model, models, evaluation, checkpoint, engine, sweep };

export function buildRun(
  file: string,
  tree: CheckedTree,
  top: StageBody,
  stages: readonly StageConfig[],
): RunConfig {
  const read = build(runFields, checkedValue(tree));
  const { sweep: _sweep, ...own } = tree.json;
  return { ...read, file, name: read.name ?? stemOf(file), stages, top, tree: own };
}

/** `countdown.gradus.yaml` → countdown. */
export const stemOf = (file: string): string => basename(file).replace(/(\.gradus)?\.ya?ml$/, "");
