import { everything } from "../methods/curriculum/arms/undivided.ts";
import { expandedMetrics } from "../../shared/metrics/metrics.ts";
import { environmentOf } from "./tasks/environments.ts";
import { unknownName } from "../config/check/report.ts";
import { perObject } from "../lib/perObject.ts";
import { auxiliaryNames } from "../config/build/auxiliaryNames.ts";
import { attemptsOf, playsEnvironment } from "../core/config/shapeFacts.ts";
import { conditionsOf } from "./curriculum/conditionsOf.ts";
import type { StageConfig } from "../core/config/stageConfig.ts";
import { languageModels } from "../core/config/runConfig.ts";
import { type StageBody } from "../core/config/resolved.ts";
import type { ConfigModel } from "../config/check/model.ts";
import type { Origin } from "../config/text/node.ts";
import { at as nodeAt, type Rule } from "./rule.ts";

/** Arms, or where they are single tasks the sets that charts have in their place, of a stage's tasks; those of a dataset lie in its file, so any value of it may be right. */
function armsOf({ tasks, curriculum }: StageBody): { exact: string[]; open: string[] } {
  const { name: arms } = curriculum.arms.declaration;
  if (arms === "none") return { exact: [everything], open: [] };
  const exact: string[] = [];
  const open: string[] = [];
  for (const task of tasks) {
    const { name } = task;
    const environment = environmentOf(task);
    if (arms === "task" || arms === "parameters") exact.push(name);
    else if (environment.kind !== "made") open.push(name);
    else if (environment.values.length === 0 || arms === "fields") exact.push(name);
    else exact.push(...environment.values.map((value) => `${name}/${value}`));
  }
  return { exact, open };
}

/** Terms whose criteria lie in the tasks, or in a program: any name of one may be right. */
const judgingByCriteria: readonly string[] = ["rubric", "user", "python"];

const phases = ["generate", "reward", "score", "update", "evaluate", "log", "total"];

interface MetricNames {
  readonly exact: readonly string[];
  readonly open: readonly string[];
  readonly arms: readonly string[];
}

/** Every metric this stage can report, and beginnings after which anything may follow. */
export const metricNames = (config: ConfigModel["config"], body: StageBody): MetricNames =>
  namesIn(config)(body);

const namesIn = perObject((config: ConfigModel["config"]) =>
  perObject((body: StageBody) => namesOf(config, body)),
);

function namesOf(config: ConfigModel["config"], body: StageBody): MetricNames {
  const arms = armsOf(body);
  const auxiliary = auxiliaryNames(body.auxiliary);
  const { rollout } = config.top;
  const attempts = playsEnvironment(rollout) ? 1 : attemptsOf(rollout);
  const fill = {
    "<n>": attempts === 1 ? [] : Array.from({ length: attempts }, (_, i) => String(i + 1)),
    "<term>": body.reward.terms.map(({ name }) => name),
    "<model>": ["reference", ...languageModels(config)],
    "<arm>": arms.exact,
    "<phase>": phases,
    "<part>": ["policy", "replay", ...auxiliary],
    "<auxiliary>": auxiliary,
    "@k": config.evaluation.pass_at.map((k) => `@${k}`),
  };
  const learning = config.models.map(({ name }) => `learner/${name}/`);
  const ofArms = arms.open.flatMap((name) => [`curriculum/${name}/`, `eval/${name}/`]);
  const criteria = body.reward.terms.flatMap(({ name, term }) =>
    judgingByCriteria.includes(term.declaration.name) ? [`reward/${name}/`] : [],
  );
  const exact = expandedMetrics(fill)
    .map(({ name }) => name)
    .filter((name) => attempts > 1 || !name.startsWith("eval/attempts/"));
  return { exact: [...new Set(exact)], open: [...ofArms, ...learning, ...criteria], arms: arms.exact };
}

/** What is wrong with the name of a metric that evaluations are to have; undefined: they have it. */
export function notEvaluated(
  config: ConfigModel["config"],
  metric: string,
  at: Origin,
): ReturnType<typeof unknownName> | undefined {
  const { exact, open } = metricNames(config, config.top);
  const known = exact.filter((name) => name.startsWith("eval/"));
  const isOpen = open.some((start) => start.startsWith("eval/") && metric.startsWith(start));
  return isOpen || known.includes(metric) ? undefined : unknownName(metric, known, at);
}

/** Metrics of a stage, or of all that take turns in it. */
export function metricsOf(
  config: ConfigModel["config"],
  { body, turns }: StageConfig,
): ReturnType<typeof metricNames> {
  const bodies = turns.length === 0 ? [body] : turns.map(({ stage }) => config.stages[stage]!.body);
  const found = bodies.map((one) => metricNames(config, one));
  const all = (of: "exact" | "open" | "arms"): string[] => [...new Set(found.flatMap((one) => one[of]))];
  return { exact: all("exact"), open: all("open"), arms: all("arms") };
}

/** `until.metric` names something the stage reports; an unknown arm in it is said to be one. */
export const knownMetric: Rule = {
  id: "unknown-metric",
  title: "Condition on a metric that is not reported",
  why: "`until.metric` names a metric that the stage itself reports. A misspelt metric, or one of a term, model or arm that the stage does not have, has no values, and the stage would run to the end of its steps.",
  check({ config, stages, report }) {
    const all = stages.flatMap((view) => conditionsOf(view).map((written) => ({ view, ...written })));
    for (const { view, condition, place } of all) {
      const { metric } = condition;
      const node = nodeAt(view.written, ...place, "metric");
      if (node === undefined) continue;
      const { exact, open, arms } = metricsOf(config, view.config);
      if (exact.includes(metric) || open.some((beginning) => metric.startsWith(beginning))) continue;
      const arm = /^(?:curriculum|eval)\/(.+)\/(?:share|estimate|pass@\d+)$/.exec(metric)?.[1];
      const known =
        arm === undefined || arms.includes(arm)
          ? exact
          : exact.filter((name) => name.startsWith(`${metric.split("/")[0]}/`));
      const { hint, fixes } = unknownName(metric, known, node.origin);
      const what =
        arm === undefined || arms.includes(arm)
          ? `There is no metric \`${metric}\`.`
          : `There is no arm \`${arm}\` in this stage.`;
      report({
        rule: arm === undefined || arms.includes(arm) ? knownMetric.id : "unknown-arm",
        message: `${what} ${hint}`,
        key: `${view.path}.${place.join(".")}.metric`,
        at: node.origin,
        fixes,
      });
    }
  },
};
