/**
 * Stages that practise what a run forgot, written into the text of its config. Every other step draws from the arms that forgot most
 * and the others from all: steps that draw from these alone would lose the other arms in turn. Pure.
 */
import { dirname } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { plural } from "../../../shared/lib/format.ts";
import type { ConfigReview, EvaluationRow } from "../../../shared/protocol/protocol.ts";
import { turnover, type ArmTurnover, type Turnover } from "../../../shared/run/turnover.ts";
import { defaultSteps } from "../../core/blocks/body.ts";
import { nameOf } from "../../config/check/method.ts";
import { withLast } from "../../config/text/listEdits.ts";
import { SourceEdits } from "../../config/text/edits.ts";
import { flowText } from "../../config/text/flow.ts";
import { parseSource } from "../../config/text/source.ts";
import { applyEdits } from "../../config/text/textEdits.ts";
import { armsToReview, reviewTasks, type ReviewTasks } from "./reviewTasks.ts";

interface Reviewed {
  readonly file: string;
  /** As the run resolved it. */
  readonly config: JsonObject;
}

/** Of the steps of the last stage that it follows, and how many at the least. */
const [share, least] = [0.25, 10];

/** @throws UserError where nothing is forgotten, no arm is to be raised, or the text gives no safe place for a stage */
export function reviewConfig(
  { file, config }: Reviewed,
  evaluations: readonly EvaluationRow[],
  text: string,
): ConfigReview {
  const known = evaluations.flatMap(({ step, results }) =>
    results === undefined ? [] : [{ step, results }],
  );
  const found = turnover(known);
  if (found === undefined || found.forgotten.length === 0)
    throw new UserError("This run has forgotten no held-out task so far.", {
      code: "review-none",
      action: "Wait for the next evaluation.",
    });
  const tasks = reviewed(found, listOf(config["tasks"]));
  const stages = stagesOf(config);
  const planned = stages.findLast(({ kind = "rl" }) => kind === "rl")?.["steps"];
  const last = typeof planned === "number" ? planned : defaultSteps;
  const steps = Math.max(least, 2 * Math.round((share * last) / 2));
  const { text: now, stage } = withStage(file, text, stages, { steps, last, tasks: tasks.tasks });
  return { text: now, stage, steps, arms: tasks.arms, message: said(stage, steps, tasks.arms, found) };
}

/** @throws UserError where drawing from some arms only is not possible, or would change nothing */
function reviewed({ arms }: Turnover, tasks: readonly JsonObject[]): ReviewTasks {
  const chosen = armsToReview(arms);
  const found = reviewTasks(tasks, chosen, arms);
  if (found !== undefined) return found;
  const names = arms.map(({ arm }) => arm).join(", ");
  if (arms.length === 1 || chosen.length < arms.length)
    throw new UserError(`The tasks of ${names} cannot be drawn apart from each other.`, {
      code: "review-arms",
      action:
        "Divide them, `curriculum.arms: difficulty`, or give each kind an entry of `tasks`, and run it again.",
    });
  throw new UserError(`All arms forgot the same share of their tasks: ${names}. None is to be drawn more.`, {
    code: "review-alike",
    action: "Give the last stage more steps, or a lower learning rate.",
  });
}

function said(stage: string, steps: number, arms: readonly ArmTurnover[], { forgotten }: Turnover): string {
  const theirs = arms.reduce((sum, one) => sum + one.forgotten, 0);
  const which = `the ${plural(arms.length, "arm").replace(/^\d+ /, "")} ${arms.map(({ arm }) => arm).join(", ")}`;
  return `Stage ${stage} has ${plural(steps, "step")}: every other one draws only from ${which}, to which ${theirs} of ${plural(forgotten.length, "forgotten task")} belong, the others from all arms. Training sees other tasks of these arms, never held-out ones.`;
}

interface Written {
  readonly steps: number;
  /** Of the stage before, where the text has none. */
  readonly last: number;
  readonly tasks: JsonObject;
}

function withStage(
  file: string,
  text: string,
  stages: readonly JsonObject[],
  { steps, last, tasks }: Written,
): { readonly text: string; readonly stage: string } {
  const { root } = parseSource(file, text, { file, folder: dirname(file), via: [], layer: "file" });
  const edits = new SourceEdits(text, root);
  const list = edits.at(["stages"]);
  const taken = new Set(list?.kind === "list" ? list.items.map((item) => nameOf(item, "stage")) : []);
  const stage = ["review", ...Array.from({ length: taken.size }, (_, i) => `review-${i + 2}`)].find((name) =>
    ["", "-all", "-forgotten"].every((end) => !taken.has(name + end)),
  )!;
  const items = stagesText(stage, steps, tasks);
  const fix =
    list === undefined
      ? isAlone(stages) &&
        edits.set(["stages"], `[${[`{ name: rl, steps: ${last} }`, ...items].join(", ")}]`, stage)
      : edits.rewriteList(["stages"], (own, lines, flow) => withLast(own, items, lines, flow), stage);
  if (fix) return { text: applyEdits(text, fix.edits), stage };
  throw new UserError("This file has no list of `stages` that a stage could be added to.", {
    file,
    code: "review-stages",
    action: `They come from a preset or an alias: write them here, and after them ${items.map((item) => `\`${item}\``).join(", ")}.`,
  });
}

/** Two stages that take turns, and the one that gives them. */
const stagesText = (stage: string, steps: number, tasks: JsonObject): readonly string[] =>
  [
    { name: `${stage}-all` },
    { name: `${stage}-forgotten`, tasks },
    {
      name: stage,
      steps,
      alternate: ["all", "forgotten"].map((end) => ({ stage: `${stage}-${end}`, steps: 1 })),
    },
  ].map(flowText);

/** A config without any has one of its steps. */
function stagesOf({ stages, steps = null }: JsonObject): readonly JsonObject[] {
  const written = listOf(stages);
  return written.length > 0 ? written : [{ name: "rl", kind: "rl", steps }];
}
const isAlone = (stages: readonly JsonObject[]): boolean =>
  stages.length === 1 && stages[0]!["name"] === "rl";

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
