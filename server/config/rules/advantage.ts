/** What an advantage's methods read that the config's model or the run does not have. */
import type { AdvantageConfig, RunConfig } from "../resolved.ts";
import { at as nodeAt, mine, placeOf, underneath, type Rule, type StageView } from "./rule.ts";

/** Heads of a model of the config; undefined: there is no such model. */
function headsOf(config: RunConfig, model: string): readonly string[] | undefined {
  const found =
    model === "policy"
      ? config.model
      : config.models.flatMap((one) => (one.kind === "opened" && one.name === model ? [one.model] : []))[0];
  return found && (found.heads ?? []).map(({ name }) => name);
}

/** The heads that a baseline reads, by its parameters. */
function readHeads({ baseline: { declaration, params } }: AdvantageConfig): string[] {
  const names = (key: string): string[] => {
    const value = params[key];
    return Array.isArray(value) ? value.map(String) : [];
  };
  if (declaration.name === "critic") return [String(params["head"])];
  return declaration.name === "turn_critic" ? [...names("q"), ...names("v")] : [];
}

/** undefined: nothing is wrong. */
function complaint(config: RunConfig, advantage: AdvantageConfig): string | undefined {
  const { declaration, params } = advantage.baseline;
  const heads = readHeads(advantage);
  const model = String(params["model"] ?? "policy");
  const own = heads.length === 0 ? [] : headsOf(config, model);
  const key = model === "policy" ? "model" : `models.${model}`;
  if (own === undefined)
    return `\`${declaration.name}\` reads a head of \`${model}\`, and there is no such model.`;
  const missing = heads.filter((head) => !own.includes(head));
  if (missing.length > 0)
    return `\`${declaration.name}\` reads the value head ${missing.map((head) => `\`${head}\``).join(", ")}, which the model has not: write \`${key}: { value_heads: [${[...own, ...missing].join(", ")}] }\`.`;
  if (declaration.needs?.includes("sum_pi_squared") === true)
    return `\`${declaration.name}\` reads \`sum_pi_squared\`, which a run does not record: use it with \`gradus explain\` on rollouts that have it.`;
  if (advantage.per_source && heads.length > 0)
    return `\`${declaration.name}\` has one value for all rewards together, so the terms can't be centred apart: set \`per_source: false\`.`;
  return undefined;
}

/** Baselines whose advantages are differences of values, token by token: a spread of rewards says nothing of them. */
const ofValues = new Set(["critic", "turn_critic", "monte_carlo", "tree_siblings", "optimal_token_baseline"]);

export const advantageScale: Rule = {
  id: "advantage-scale",
  check({ stages, file, root, report }) {
    const fresh = once();
    for (const view of stages) {
      const { baseline, scale } = view.config.body.advantage;
      if (view.config.kind !== "rl" || !fresh(view)) continue;
      if (!ofValues.has(baseline.declaration.name) || !scale.declaration.name.endsWith("_std")) continue;
      const at =
        mine(
          file,
          nodeAt(view.body, "advantage", "scale")?.origin,
          nodeAt(view.body, "advantage", "baseline")?.origin,
        ) ?? root.origin;
      const message = `\`${scale.declaration.name}\` divides by a spread of rewards, and \`${baseline.declaration.name}\` gives differences of values: write \`advantage.scale: none\`, and \`whiten: tokens\` to standardise them.`;
      const key = underneath(view, at, "advantage.scale");
      report({ rule: advantageScale.id, severity: "warning", message, key, at });
    }
  },
};

const once = (): ((view: StageView) => boolean) => {
  const seen = new Set<unknown>();
  return ({ config }) => {
    const { advantage } = config.body;
    const known = seen.has(advantage.baseline);
    seen.add(advantage.baseline);
    return !known;
  };
};

export const advantageNeeds: Rule = {
  id: "advantage-needs",
  check({ config, stages, file, root, report }) {
    const fresh = once();
    for (const view of stages) {
      if (view.config.kind !== "rl" || !fresh(view)) continue;
      const message = complaint(config, view.config.body.advantage);
      if (message === undefined) continue;
      const at =
        mine(file, nodeAt(view.body, "advantage", "baseline")?.origin, placeOf(view.body, "advantage")) ??
        root.origin;
      report({ rule: advantageNeeds.id, message, key: underneath(view, at, "advantage.baseline"), at });
    }
  },
};
