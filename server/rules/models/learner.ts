import { drawsActions, plannedLearners, type LearnerPlan } from "../../algorithm/loss/modelsRead.ts";
import { alwaysModels } from "../../core/references.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { modelsOf } from "../../core/channelNames.ts";
import { headsOf, lackOfHeads, valueHeadsOf } from "../advantage/heads.ts";
import { lacksOptimizer } from "./models.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

const quoted = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

interface LearnerProblem {
  readonly message: string;
  /** A value that fixes it, at a path of the config, or of the entry of `auxiliary`. */
  readonly fix?: {
    readonly of: "config" | "entry";
    readonly path: readonly string[];
    readonly value: string;
  };
}

/** What keeps a learner from learning; undefined: nothing. */
function problemOf(config: RunConfig, plan: LearnerPlan): LearnerProblem | undefined {
  const { kind, model } = plan;
  const found = config.models.find(({ name }) => name === model);
  if (model !== "policy" && found === undefined)
    return { message: `The ${kind} trains \`${model}\`, but there is no such model: add it to \`models\`.` };
  if (found?.kind === "copy")
    return {
      message: `\`${model}\` is a copy that only follows \`${found.of}\`: train \`${found.of}\` instead.`,
      fix: { of: "entry", path: ["model"], value: found.of },
    };
  if (found?.kind === "perceptron")
    return {
      message: `\`${model}\` is a multilayer perceptron, but a learner needs a language model to read rollouts.`,
    };
  if (found !== undefined && found.optimizer === undefined)
    return {
      message: `\`${model}\` is frozen: write \`models.${model}: { trains: true, optimizer: … }\`.`,
    };
  return lackingHeads(config, plan) ?? otherProblem(config, plan);
}

function lackingHeads(
  config: RunConfig,
  { kind, model, objective: { channels } }: LearnerPlan,
): LearnerProblem | undefined {
  const lack = lackOfHeads(channels, valueHeadsOf(config, model) ?? []);
  if (lack === undefined) return undefined;
  const { missing, narrow, value } = lack;
  const path = model === "policy" ? ["model", "value_heads"] : ["models", model, "value_heads"];
  const problem =
    missing.length > 0
      ? `trains ${quoted(missing)}, which the model does not have`
      : `reads a value per vocabulary entry, but ${quoted(narrow)} of the model gives only one value`;
  return {
    message: `The ${kind} ${problem}: write \`${path.join(".")}: ${value}\`.`,
    fix: { of: "config", path, value },
  };
}

/** Models that the objective reads in addition to the one that learns. */
function otherProblem(
  config: RunConfig,
  { kind, model, objective }: LearnerPlan,
): LearnerProblem | undefined {
  const { heads = [] } = objective.needs ?? {};
  const known = ["policy", ...alwaysModels, ...config.models.map(({ name }) => name)];
  const unknown = modelsOf(objective).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const value = `{ polyak: { of: ${model}, tau: 0.1 } }`;
    return {
      message: `The ${kind}'s objective reads \`${unknown}\`, but there is no such model: to make it a slow copy, write \`models.${unknown}: ${value}\`.`,
      fix: { of: "config", path: ["models", unknown], value },
    };
  }
  const lacking = heads.filter((one) => headsOf(config, one.model)?.includes(one.head) === false);
  return lacking.length === 0
    ? undefined
    : {
        message: `The ${kind}'s objective reads ${quoted(lacking.map(({ head }) => head))} of \`${lacking[0]!.model}\`, which has no such head.`,
      };
}

function check(model: ConfigModel, view: StageView, plan: LearnerPlan): void {
  const found = lacksOptimizer(model, plan.model) ? undefined : problemOf(model.config, plan);
  if (found === undefined) return;
  const { message, fix: edit } = found;
  const at = ["auxiliary", String(plan.index)];
  const from = placeOf(view.body, ...at);
  reportAt(model, view, learner, [[...at, "model"], [...at, "objective"], at], {
    message,
    fileFixes: [
      edit &&
        model.edits.set(
          edit.of === "config" ? edit.path : pathIn(view, from, "auxiliary", plan.index, ...edit.path),
          edit.value,
          `Set \`${edit.path.join(".")}\` to \`${edit.value}\``,
        ),
    ],
  });
}

export const learner: Rule = {
  id: "learner",
  title: "Learner that cannot learn",
  why: "A learner or an author of `auxiliary` trains a model with an objective of its own. The model must be the policy or a model of `models` that trains, and it must have the heads that the objective uses. A model that the objective compares it with, such as a slow copy, must be in `models` too. Only learners get freshly drawn actions: with `actions: drawn`, another loss would find none, and the run would stop at its first update.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    for (const plan of plannedLearners(body)) check(model, view, plan);
    if (!drawsActions(body)) return;
    const paths = [["objective", "value", "actions"], ["objective", "actions"], ["objective"]];
    reportAt(model, view, learner, paths, {
      message: "`actions: drawn` needs a learner of `auxiliary`: this loss reads only recorded actions.",
      fileFixes: paths.slice(0, 2).flatMap((path) => {
        const origin = placeOf(view.body, ...path);
        const where = pathIn(view, origin, ...path);
        return origin === undefined
          ? []
          : [model.edits.set(where, "recorded", "Set `actions` to `recorded`")];
      }),
    });
  }),
};
