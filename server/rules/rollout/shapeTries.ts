import { eachStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

export const shapeTries: Rule = {
  id: "shape-tries",
  title: "Fewest attempts above most attempts",
  why: "`rollout.shape: { use: multi_attempt, low, high }` draws how many attempts an episode may have between `low` and `high`, so `low` cannot be more than `high`.\n\nSwap them.",
  check: eachStage((view, model) => {
    const { shape } = view.config.body.rollout;
    const { low, high } = shape.params;
    if (typeof low !== "number" || typeof high !== "number" || low <= high) return;
    const at = placeOf(view.body, "rollout", "shape", "low");
    reportAt(
      model,
      view,
      shapeTries,
      [
        ["rollout", "shape", "low"],
        ["rollout", "shape", "high"],
        ["rollout", "shape"],
      ],
      {
        severity: "error",
        message: `\`low\` ${low} is more than \`high\` ${high}: an episode cannot have at least ${low} attempts and at most ${high}.`,
        fileFixes: [
          model.edits.set(
            pathIn(view, at, "rollout", "shape", "low"),
            String(high),
            `Change \`low\` to ${high} (= \`high\`)`,
          ),
        ],
      },
    );
  }),
};
