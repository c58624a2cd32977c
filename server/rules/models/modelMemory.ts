import { keyOf, at as nodeAt, mine, type Rule } from "../rule.ts";

/** What a run would need of this machine's memory. */
export const modelMemory: Rule = {
  id: "model-memory",
  title: "More memory than a run may use",
  why: "Before a run starts, its peak memory is predicted from the models' sizes and the config: weights, gradients, the optimiser's state, activations, caches of the responses being generated. It may use 80 % of the machine's memory, or of the container's, or what `engine.memory` says. The work is first split into the smallest possible pieces; if that is not enough, the run does not start.\n\nIf lowering one number is enough, the message names it. Otherwise choose a smaller model, an adapter (`model.adapter`) or an optimiser with less state. Close to the limit this is a warning, because the prediction may be off by a quarter.",
  check({ config, root, file, facts, report }) {
    if (config.engine.use !== "embedded") return;
    const found = facts?.memory(config);
    if (found === undefined || found.kind === "fits") return;
    const limit = nodeAt(root, "engine", "memory")?.origin;
    const at = mine(file, nodeAt(root, "model", "base")?.origin, keyOf(root, "model"), limit) ?? root.origin;
    report({
      rule: modelMemory.id,
      severity: found.kind === "near" ? "warning" : "error",
      message: found.problem,
      key: at === limit ? "engine.memory" : "model.base",
      at,
      related: [{ at: limit, message: "how much it may use" }],
    });
  },
};
