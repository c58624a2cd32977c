import { headsOf, headsRead, ownerOf } from "./heads.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import type { AdvantageConfig } from "../../core/config/resolved.ts";
import { firstTime, reportAt, type Rule } from "../rule.ts";

interface Complaint {
  readonly message: string;
  /** A value that fixes it. */
  readonly fix?: { readonly path: readonly string[]; readonly value: string };
}

/** undefined: nothing is wrong. */
function complaint(config: RunConfig, advantage: AdvantageConfig): Complaint | undefined {
  const { declaration } = advantage.baseline;
  const heads = headsRead(advantage);
  const model = ownerOf(advantage);
  const own = heads.length === 0 ? [] : headsOf(config, model);
  const key = model === "policy" ? "model" : `models.${model}`;
  if (own === undefined)
    return { message: `\`${declaration.name}\` reads a head of \`${model}\`, but there is no such model.` };
  const missing = heads.filter((head) => !own.includes(head));
  if (missing.length > 0) {
    const value = `[${[...own, ...missing].join(", ")}]`;
    return {
      message: `\`${declaration.name}\` reads the value head ${missing.map((head) => `\`${head}\``).join(", ")}, which the model does not have: write \`${key}: { value_heads: ${value} }\`.`,
      fix: { path: [...key.split("."), "value_heads"], value },
    };
  }
  if (advantage.per_source && heads.length > 0)
    return {
      message: `\`${declaration.name}\` has one value for all rewards together, so it cannot centre each term separately: set \`per_source: false\`.`,
      fix: { path: ["advantage", "per_source"], value: "false" },
    };
  return undefined;
}

export const advantageNeeds: Rule = {
  id: "advantage-needs",
  title: "Advantage that reads a missing value head",
  why: "A baseline may read a value head of a model. The run stops at its first update if the model has no such head.\n\nDeclare the head (`model: { value_heads: [value] }`), name a model that has one, or choose a baseline that reads only rewards, e.g. `group_mean`.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages) {
      if (view.config.kind !== "rl" || !fresh(view.config.body.advantage)) continue;
      const found = complaint(model.config, view.config.body.advantage);
      if (found === undefined) continue;
      const { message, fix } = found;
      reportAt(model, view, advantageNeeds, [["advantage", "baseline"], ["advantage"]], {
        key: "advantage.baseline",
        message,
        fileFixes: [
          fix && model.edits.set(fix.path, fix.value, `Set \`${fix.path.join(".")}\` to \`${fix.value}\``),
        ],
      });
    }
  },
};
