import { metrics } from "../../../shared/metrics.ts";
import { environmentOf } from "./environments.ts";
import { unknownName } from "../report.ts";
import { auxiliaryNames } from "../auxiliaryNames.ts";
import { languageModels, type StageBody } from "../resolved.ts";
import { at as nodeAt, type ConfigModel, type Rule } from "./rule.ts";

/** Arms of a stage's tasks; those of a dataset lie in its file, so any value of it may be right. */
function armsOf({ tasks, curriculum }: StageBody): { exact: string[]; open: string[] } {
  if (curriculum.arms.declaration.name === "none")
    return { exact: [...new Set(tasks.map(({ name }) => name))], open: [] };
  const exact: string[] = [];
  const open: string[] = [];
  for (const task of tasks) {
    const { name } = task;
    const environment = environmentOf(task);
    if (environment.kind !== "made") open.push(name);
    else if (environment.values.length === 0 || curriculum.arms.declaration.name === "task") exact.push(name);
    else exact.push(...environment.values.map((value) => `${name}/${value}`));
  }
  return { exact, open };
}

const phases = ["generate", "reward", "score", "update", "evaluate", "log", "total"];

/** Every metric this stage can report, and beginnings after which anything may follow. */
export function metricNames(
  config: ConfigModel["config"],
  body: StageBody,
): { exact: string[]; open: string[]; arms: string[] } {
  const arms = armsOf(body);
  const auxiliary = auxiliaryNames(body.auxiliary);
  const fill: Readonly<Record<string, readonly string[]>> = {
    "<term>": body.reward.terms.map(({ name }) => name),
    "<model>": ["reference", ...languageModels(config)],
    "<arm>": arms.exact,
    "<phase>": phases,
    "<part>": ["policy", "replay", ...auxiliary],
    "<auxiliary>": auxiliary,
    "@k": config.evaluation.pass_at.map((k) => `@${k}`),
  };
  const expand = (name: string): string[] => {
    const hole = Object.keys(fill).find((key) => name.includes(key));
    return hole === undefined
      ? [name]
      : (fill[hole] ?? []).flatMap((value) => expand(name.replace(hole, value)));
  };
  const learning = config.models.map(({ name }) => `learner/${name}/`);
  const ofArms = arms.open.flatMap((name) => [`curriculum/${name}/`, `eval/${name}/`]);
  const exact = metrics.flatMap(({ name }) => (name.startsWith("learner/") ? [] : expand(name)));
  return { exact: [...new Set(exact)], open: [...ofArms, ...learning], arms: arms.exact };
}

/** `until.metric` names something the stage reports; an unknown arm in it is said to be one. */
export const knownMetric: Rule = {
  id: "unknown-metric",
  check({ config, stages, report }) {
    for (const view of stages) {
      const metric = view.config.until?.metric;
      const node = nodeAt(view.written, "until", "metric");
      if (metric === undefined || node === undefined) continue;
      const { exact, open, arms } = metricNames(config, view.config.body);
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
        key: `${view.path}.until.metric`,
        at: node.origin,
        fixes,
      });
    }
  },
};
