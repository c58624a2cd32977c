/** What of a config's curriculum and rewards another trainer cannot have, and what it gets instead. */
import { contextOf } from "../../../algorithm/algorithm.ts";
import { noModels } from "../../../analysis/rescore/noModels.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import type { RewardTermConfig, StageBody } from "../../../core/config/resolved.ts";
import type { StageConfig } from "../../../core/config/stageConfig.ts";
import { create } from "../../../core/create.ts";
import type { CreateContext } from "../../../core/declaration.ts";
import type { Until } from "../../../core/blocks/stage.ts";
import { randomStream } from "../../../lib/random.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Missing } from "../../lens/exporter.ts";

/** Methods that run programs of models, for which the service has no sandbox, or the user's Python, which the trainer calls itself. */
const notScored = new Set(["unit_tests", "table_match", "python"]);

/** Whether the service scores a term. What asks a model is found when it is asked. */
export const isScored = ({ term }: RewardTermConfig): boolean => !notScored.has(term.declaration.name);

/** Built files next to the service that a method runs, by the method's name. */
const hosts: Readonly<Record<string, readonly string[]>> = {
  math: ["mathsThread.mjs", "mathVerify.py"],
  reasoning_gym: ["reasoningGym.py"],
};

const rlStages = ({ stages }: RunConfig): readonly StageConfig[] =>
  stages.filter(({ kind }) => kind === "rl");

/** Names of built files that must lie next to the service. */
export function hostsOf(config: RunConfig): string[] {
  const names = rlStages(config).flatMap(({ body }) => [
    ...body.reward.terms.map(({ term }) => term.declaration.name),
    ...body.tasks.map(({ source }) => source.declaration.name),
  ]);
  return [...new Set(names.flatMap((name) => hosts[name] ?? []))];
}

/** A part of the curriculum that asks the policy: the service trains without it. */
export type Replaced = "estimator" | "sampler";

export interface Travel {
  readonly missing: readonly Missing[];
  /** Parts that get their defaults. */
  readonly replaced: ReadonlySet<Replaced>;
}

export function travelOf(config: RunConfig): Travel {
  const missing = new Map<string, Missing>();
  const replaced = new Set<Replaced>();
  for (const { body, until } of rlStages(config)) {
    const context = contextOf(body, { random: randomStream(config.seed, "methods"), models: noModels });
    for (const [part, reason] of asking(body, context)) {
      replaced.add(part);
      replaced.add("sampler");
      add(missing, `curriculum.${part}`, body.curriculum[part].use, reason, "algorithm");
    }
    for (const one of [...partsMissing(body, context), ...tasksMissing(body), ...untilMissing(until)])
      add(missing, ...one);
  }
  return { missing: [...missing.values()], replaced };
}

type Row = readonly [key: string, value: string, reason: string, changes: Missing["changes"]];

function add(missing: Map<string, Missing>, ...[key, value, reason, changes]: Row): void {
  missing.set(`${key} ${value}`, { key, value, reason, changes });
}

const askedPolicy =
  "It measures tasks with the policy before they are drawn, which only a run of Gradus does. Tasks are drawn uniformly instead.";

/** Parts that need a model, or rollouts before a draw. */
function asking({ curriculum }: StageBody, context: CreateContext): [Replaced, string][] {
  const found: [Replaced, string][] = [];
  if (asks(() => create(curriculum.estimator, context))) found.push(["estimator", askedPolicy]);
  if (asks(() => create(curriculum.sampler, context))) found.push(["sampler", askedPolicy]);
  return found;
}

function asks(make: () => { readonly pilots?: unknown; readonly model?: unknown }): boolean {
  try {
    const made = make();
    return made.pilots !== undefined || made.model !== undefined;
  } catch (error) {
    if (error instanceof UserError && error.detail.code?.startsWith("rescore-") === true) return true;
    throw error;
  }
}

function partsMissing({ curriculum }: StageBody, context: CreateContext): Row[] {
  const { admission, refill, budget, start } = curriculum;
  const rows: Row[] = [];
  if (create(admission, context).screen !== undefined)
    rows.push([
      "curriculum.admission",
      admission.use,
      "Its pilot rollouts of drawn tasks are left out: every drawn task gets its group.",
      "algorithm",
    ]);
  if (refill.declaration.name !== "none")
    rows.push([
      "curriculum.admission.refill",
      refill.use,
      "A step has one draw: rejected groups make the step smaller and are not replaced.",
      "algorithm",
    ]);
  if (budget.declaration.name !== "fixed")
    rows.push([
      "curriculum.budget",
      budget.use,
      "Every group has as many rollouts as the trainer's own setting says.",
      "algorithm",
    ]);
  if (start.declaration.name !== "prompt")
    rows.push(["curriculum.start", start.use, "Every rollout begins at its prompt.", "algorithm"]);
  return rows;
}

function tasksMissing({ tasks }: StageBody): Row[] {
  return tasks.flatMap(({ name, generate, source }): Row[] => {
    if (generate !== undefined)
      return [
        [
          `tasks.${name}.generate`,
          generate.transform.use,
          "No task is made during the training.",
          "algorithm",
        ],
      ];
    const most = source.params["max_prompt"];
    if (most === undefined) return [];
    const reason = "The service has no tokenizer, so it counts a prompt's characters.";
    return [[`tasks.${name}.max_prompt`, String(most), reason, "algorithm"]];
  });
}

/** Metrics that follow from what is observed. */
const known = /^(reward|groups|curriculum|advantage)\/|^rollout\/(count|scored)$/;

function untilMissing(until: Until | undefined): Row[] {
  const unknown = (until?.conditions ?? []).filter(({ metric }) => !known.test(metric));
  return unknown.map(({ metric }): Row => [
    "until",
    metric,
    "The stage ends by it only if the trainer reports it: `observe(metrics=…)`; else after its steps.",
    "nothing-trained",
  ]);
}
