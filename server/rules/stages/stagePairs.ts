import type { TaskConfig } from "../../core/config/resolved.ts";
import { languageModels } from "../../core/config/runConfig.ts";
import { lacksOptimizer } from "../models/models.ts";
import { placeIn } from "../placeIn.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { at as nodeAt, eachStage, keyOf, reportAt, type Rule } from "../rule.ts";

const hasPairs = ({ source }: TaskConfig): boolean =>
  source.params["chosen"] !== undefined && source.params["rejected"] !== undefined;

function checkTasks(model: ConfigModel, view: StageView): void {
  const { name, kind, body } = view.config;
  for (const [index, task] of body.tasks.entries()) {
    if (hasPairs(task)) continue;
    const half = task.source.params["chosen"] !== undefined || task.source.params["rejected"] !== undefined;
    const fields =
      task.source.declaration.name === "dataset"
        ? 'name the fields that hold them, e.g. `chosen: "{chosen}"` and `rejected: "{rejected}"`'
        : "use a `dataset` of pairs";
    const at = placeIn(view, "tasks", String(index));
    model.report({
      rule: stagePairs.id,
      message: `\`${name}\` (${kind}) learns from pairs of answers, but the tasks of \`${task.name}\` have ${half ? "only one answer of the two" : "none"}: ${fields}, or let the policy generate them with \`pairs: rollouts\`.`,
      key: `${view.path}.tasks.${task.name}`,
      at: at ?? model.root.origin,
      fileFixes: [
        model.edits.set(
          ["stages", name, "pairs"],
          "rollouts",
          "Insert `pairs: rollouts`: the policy generates the answers",
          false,
        ),
      ],
    });
  }
}

function checkPolicies(model: ConfigModel, view: StageView, policies: readonly string[]): void {
  const { name, kind } = view.config;
  const at = nodeAt(view.written, "pairs")?.origin ?? keyOf(view.written, "kind");
  const known = ["policy", ...languageModels(model.config)];
  const unknown = policies.find((one) => !known.includes(one));
  const problem =
    kind === "preference"
      ? `\`${name}\` trains the policy, which learns nothing from who wrote an answer: use a stage of \`kind: reward_model\`.`
      : unknown !== undefined
        ? `There is no model \`${unknown}\` to write answers. These can: ${known.join(", ")}.`
        : new Set(policies).size < policies.length
          ? "A model is named twice in `pairs.policies`: name different ones."
          : undefined;
  if (problem !== undefined && at !== undefined)
    model.report({ rule: stagePairs.id, message: problem, key: `${view.path}.pairs`, at });
}

function checkModel(model: ConfigModel, view: StageView): void {
  const { trains, name } = view.config;
  const at = nodeAt(view.written, "trains")?.origin ?? keyOf(view.written, "kind");
  const say = (message: string): void =>
    at && model.report({ rule: stagePairs.id, message, key: `${view.path}.trains`, at });
  if (trains !== undefined && lacksOptimizer(model, trains)) return;
  const own = model.config.models.find((one) => one.name === trains);
  const fitting = model.config.models.flatMap((one) =>
    one.kind === "opened" && one.optimizer ? [one.name] : [],
  );
  const known = fitting.length === 0 ? "" : ` These train: ${fitting.join(", ")}.`;
  if (trains === undefined)
    return say(
      `\`${name}\` does not say which model it trains: write \`trains: NAME\`, a model of \`models\`.${known}`,
    );
  if (own === undefined) return say(`There is no model \`${trains}\` in \`models\`.${known}`);
  if (own.kind !== "opened" || own.optimizer === undefined)
    return say(
      `The model \`${trains}\` does not train: set \`trains: true\` and an \`optimizer\` in \`models.${trains}\`.`,
    );
  const { head = "reward" } = view.config.body.objective.loss.params;
  if ((own.model.heads ?? []).some((one) => one.name === head)) return;
  say(
    `The model \`${trains}\` has no head \`${String(head)}\`: set \`value_heads: [${String(head)}]\` in \`models.${trains}\`.`,
  );
}

/** A stage that learns from pairs has some, and says what learns. */
export const stagePairs: Rule = {
  id: "stage-pairs",
  title: "Stage without pairs, or without a model to train on them",
  why: "A stage of `kind: preference` or `reward_model` compares two answers to a prompt. They come from a dataset, from its fields `chosen` and `rejected`; or with `pairs: rollouts` the policy generates them, and the stage's reward decides which one is better. A reward model is a model of `models` that trains and has a value head: `trains` names it. The policy's own objective must be one that compares (`dpo`, `ipo`, `orpo`, …).\n\nSay which fields hold the answers, or let the policy generate them.",
  check: eachStage((view, model) => {
    const { kind, pairs, body } = view.config;
    if (kind !== "preference" && kind !== "reward_model") return;
    if (pairs === "dataset") checkTasks(model, view);
    else if (pairs !== "rollouts") checkPolicies(model, view, pairs.policies);
    if (kind === "reward_model") checkModel(model, view);
    if (pairs === "rollouts" && body.rollout.group < 2)
      reportAt(model, view, stagePairs, [["rollout", "group"]], {
        message:
          "With `rollout.group` 1 a rollout has nothing to be compared with: set `rollout.group` to 2 or more.",
      });
  }),
};
