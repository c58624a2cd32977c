import { at as nodeAt, mine, type Rule } from "../rule.ts";

/** Recorded advantages are final: what would scale them is not read. */
export const givenBaseline: Rule = {
  id: "given-baseline",
  title: "Scale with recorded advantages",
  why: "`baseline: given` uses the advantages recorded with the rollouts as they are, so `scale` is not read.",
  check({ config, file, root, report, edits }) {
    if (
      config.top.advantage.baseline.declaration.name !== "given" ||
      config.top.advantage.scale.declaration.name === "none"
    )
      return;
    const scale = nodeAt(root, "advantage", "scale")?.origin;
    if (scale === undefined || scale.layer === "default") return;
    report({
      rule: givenBaseline.id,
      severity: "info",
      message: "With `baseline: given` the recorded advantages are used as they are: `scale` is not read.",
      key: "advantage.scale",
      at: mine(file, scale) ?? root.origin,
      tags: ["unnecessary"],
      fileFixes: [edits.remove(["advantage", "scale"], "Remove `scale`")],
    });
  },
};
