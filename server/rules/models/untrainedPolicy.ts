import type { ConfigModel, StageView } from "../../config/check/model.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { judgesOf } from "../../core/config/termFacts.ts";
import { appliesTo, scheduledRange } from "../ranges.ts";
import { isOwn, placeOf, reportAt, type Rule } from "../rule.ts";
import { environmentOf } from "../tasks/environments.ts";

/** Characters of a solution from which on random letters are no chance: one in thousands, of the smallest alphabet. */
const outOfReach = 3;

/** Kinds of stage that train the policy on what it did not write. */
const teaching: ReadonlySet<string> = new Set(["sft", "pretrain", "preference"]);

/** Whether a stage has another source of right answers than the policy itself. */
const isHelped = ({ auxiliary, guidance, replay }: StageBody): boolean =>
  guidance.trigger.declaration.name !== "none" ||
  ["file", "shared_log"].includes(replay.source.declaration.name) ||
  auxiliary.some(({ loss }) => loss.params["data"] !== "successes");

/** The first stage, where nothing in the run teaches a policy of random weights but its own right answers. */
function untaught({ config, stages }: ConfigModel): StageView | undefined {
  const others = config.models.some((model) => model.kind === "opened" && model.model.base !== "tiny");
  const isTaught = stages.some(
    ({ config: { kind, on_enter, body } }) =>
      teaching.has(kind) || on_enter.init.length > 0 || isHelped(body),
  );
  return config.model.base !== "tiny" || others || isTaught ? undefined : stages[0];
}

/** Tasks that only a right answer of some length earns anything of. */
const hopeless = ({ tasks, reward }: StageBody) =>
  tasks.filter((task) => {
    const terms = reward.terms.filter(
      (term) => appliesTo(term, task.name) && scheduledRange(term.weight).some((end) => end !== 0),
    );
    const world = environmentOf(task);
    if (world.kind !== "made" || world.plays || task.play !== undefined) return false;
    const lengths = [...world.shortestSolution.values()];
    return (
      terms.some((term) => judgesOf(term) === "answer") &&
      lengths.length > 0 &&
      lengths.every((length) => length >= outOfReach)
    );
  });

/** A policy that begins with random weights can earn something. */
export const untrainedPolicy: Rule = {
  id: "untrained-policy",
  title: "Random weights that no stage teaches",
  why: "A `tiny` model begins with random weights, so that it writes random letters. A right answer of three letters or more is one in thousands: all rewards of a group are equal, every advantage is 0, and nothing is learned.\n\nBegin with a stage of `kind: sft`, which imitates the tasks' written solutions, or with the path of a trained model as `model.base`.",
  check(model) {
    const view = untaught(model);
    if (view === undefined || !isOwn(placeOf(model.root, "model"))) return;
    const tasks = hopeless(view.config.body);
    if (tasks.length === 0 || tasks.length < view.config.body.tasks.length) return;
    reportAt(model, view, untrainedPolicy, [["model", "base"], ["model"]], {
      severity: "warning",
      key: "model.base",
      message: `From random weights no answer to \`${tasks.map(({ name }) => name).join("`, `")}\` will be right, so all rewards are equal and nothing is learned: begin with a stage of \`kind: sft\`, or with a trained \`model.base\`.`,
    });
  },
};
