import type { RunConfig } from "../../core/config/runConfig.ts";
import { headsOf } from "../advantage/heads.ts";
import { eachStage, placeOf, type Rule } from "../rule.ts";

/** Why a model cannot begin with the weights of another; undefined: nothing in the config is against it. */
function problemOf(config: RunConfig, name: string, from: string): string | undefined {
  const found = config.models.find((one) => one.name === name);
  if (found?.kind !== "opened" || found.optimizer === undefined)
    return `\`${name}\` is not a language model of \`models\` that trains: only such a model takes the weights of another.`;
  const source = from === "policy" ? undefined : config.models.find((one) => one.name === from);
  if (from !== "policy" && source?.kind !== "opened")
    return `\`${from}\` is neither the policy nor a language model of \`models\` with weights of its own.`;
  const [own, other] = [headsOf(config, name) ?? [], headsOf(config, from) ?? []];
  if (own.toSorted().join() !== other.toSorted().join())
    return `\`${name}\` has the heads [${own.join(", ")}] and \`${from}\` [${other.join(", ")}]: give both the same \`value_heads\`.`;
  return undefined;
}

export const modelInit: Rule = {
  id: "model-init",
  title: "A model that cannot begin as another",
  why: "`on_enter: { init: { critic: prm } }` gives a model of the run the weights of another as the stage begins, heads included: a critic begins as a process reward model. The model that takes them must be one of `models` that trains, with weights of its own, and both must have the same sizes and the same heads. A run would stop where the stage begins.\n\nName two such models, and give both the same `base`, sizes and `value_heads`.",
  check: eachStage((view, model) => {
    for (const { name, from } of view.config.on_enter.init) {
      const message = problemOf(model.config, name, from);
      if (message === undefined) continue;
      const path = ["on_enter", "init", name];
      const place = placeOf(view.written, ...path);
      model.report({
        rule: modelInit.id,
        severity: "error",
        message,
        key: `${view.path}.on_enter.init.${name}`,
        at: place ?? model.root.origin,
        fileFixes: [
          model.edits.remove(["stages", view.config.name, ...path], `Let \`${name}\` begin as it is`, false),
        ],
      });
    }
  }),
};
