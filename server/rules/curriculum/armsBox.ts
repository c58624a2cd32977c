import { UserError } from "../../../shared/lib/errors.ts";
import { boxOf, type Ranges, type Varied } from "../../methods/curriculum/arms/box.ts";
import type { Fix } from "../../config/check/diagnostic.ts";
import type { StageBody, TaskConfig } from "../../core/config/resolved.ts";
import { environmentOf } from "../tasks/environments.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** undefined: its parameters make no task, which another rule reports. */
function variedBy(task: TaskConfig): Varied | undefined {
  const environment = environmentOf(task);
  if (environment.kind === "refused") return undefined;
  return { name: task.name, knobs: environment.kind === "made" ? environment.knobs : undefined };
}

/** Why the tasks have no such box; undefined: they have, or their own parameters must be fixed first. */
function whyNoBox({ curriculum: { arms }, tasks }: StageBody): string | undefined {
  const varied = tasks.flatMap((task) => variedBy(task) ?? []);
  if (varied.length < tasks.length || tasks.length === 0) return undefined;
  try {
    boxOf(varied, arms.params["box"] as Ranges);
    return undefined;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return `${error.message}. ${error.detail.action ?? ""}`.trim();
  }
}

/** Arms that are points need one environment with the parameters that are named. */
export const armsBox: Rule = {
  id: "arms-box",
  title: "Box of parameters that the environment does not have",
  why: "`arms: parameters` takes the points of a box as arms: each point gives a built-in environment the numbers that it makes tasks from. Every dimension of the box must be a parameter of that environment, and its range must lie within what the environment can make.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    if (body.curriculum.arms.declaration.name !== "parameters") return;
    const message = whyNoBox(body);
    if (message !== undefined)
      reportAt(model, view, armsBox, placesIn(view), { message, fileFixes: [withoutBox(model, view)] });
  }),
};

/** Without a box the environment's difficulty varies, where there is one environment. */
function withoutBox({ edits }: ConfigModel, view: StageView): Fix | undefined {
  const path = ["curriculum", "arms", "box"];
  const [task, ...others] = view.config.body.tasks.flatMap((one) => variedBy(one) ?? []);
  if (task?.knobs === undefined || others.length > 0) return undefined;
  return edits.remove(
    pathIn(view, placeOf(view.body, ...path), ...path),
    "Remove `box`: only the difficulty varies",
    false,
  );
}

/** A stage that has changed the tasks alone is where it went wrong. */
function placesIn({ body }: StageView): (readonly string[])[] {
  const arms = ["curriculum", "arms"];
  const isLate = placeOf(body, "tasks")?.stage !== undefined && placeOf(body, ...arms)?.stage === undefined;
  return isLate ? [["tasks"]] : [[...arms, "box"], arms];
}
