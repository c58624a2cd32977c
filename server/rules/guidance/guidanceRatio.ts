import { objectiveNeeds } from "../../algorithm/loss/modelsRead.ts";
import { givenBy, givenTrains, hasRatio, helps } from "../../core/config/guidanceFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { pathIn, placeOf, tell, type Rule } from "../rule.ts";

interface Problem {
  readonly message: string;
  /** Ratios that fit, likeliest first. */
  readonly fit: readonly string[];
  readonly severity: "error" | "warning";
  /** Parameters of the ratio that mend it, likeliest first. */
  readonly params?: readonly (readonly [name: string, value: string])[];
}

/** Ratios that give tokens a loss of their own, which no anchor is read for. */
const own: readonly string[] = ["shaped", "imitation"];

function problemOf({ guidance, objective }: StageBody): Problem | undefined {
  const ratio = guidance.ratio.declaration.name;
  const gives = givenBy(guidance);
  if (ratio === "true_behaviour" && givenTrains(guidance) && gives.likely !== true)
    return {
      severity: "error",
      fit: ["shaped", "multiple_importance", "same_context"],
      message: `Given tokens train, and nobody can say how likely \`${guidance.source.declaration.name}\` was to write them, which \`guidance.ratio: true_behaviour\` counts against. \`shaped\`, \`multiple_importance\` and \`same_context\` fit.`,
    };
  if (ratio === "mixture" && !(gives.reads === "attempt" && gives.place === "response"))
    return {
      severity: "error",
      fit: ["same_context"],
      message: `\`guidance.ratio: mixture\` is of a rollout that goes on from a failed attempt, and \`${guidance.source.declaration.name}\` does not. \`source: probe\` and \`feedback\` with \`place: continue\` do.`,
    };
  const { alpha, plain } = guidance.ratio.params;
  if (ratio === "mixture" && alpha === 1 && plain === "mixture")
    return {
      severity: "error",
      fit: [],
      params: [
        ["plain", "keep"],
        ["alpha", "0.12"],
      ],
      message:
        "With `alpha: 1` nothing of the policy is left in the mixture, which a plain rollout counts against with `plain: mixture`: (1 − α) π_old is 0, and its ratio infinite. Set `plain: keep`, or `alpha` below 1.",
    };
  const { anchor } = objective.loss.params;
  const anchored = ratio !== "same_context" && !own.includes(ratio);
  if (anchored && typeof anchor === "string" && anchor !== "behaviour")
    return {
      severity: "error",
      fit: ["same_context"],
      message: `\`objective.anchor: ${anchor}\` is what every ratio is against: \`guidance.ratio: ${ratio}\` would not be read. It needs \`anchor: behaviour\`.`,
    };
  if (anchored && !hasRatio(objective))
    return {
      severity: "warning",
      fit: ["same_context"],
      message: `\`objective: ${objective.loss.declaration.name}\` has no ratio to the behaviour: \`guidance.ratio: ${ratio}\` is not read.`,
    };
  return undefined;
}

export const guidanceRatio: Rule = {
  id: "guidance-ratio",
  title: "Ratio that helped rollouts cannot have",
  why: "What a helped rollout's tokens count against depends on who wrote them. Of a model of the run the probability of every token is known; of a written solution or a file of answers it is not, so that only ratios fit that need none (`shaped`: π / (π + γ); `multiple_importance`, which takes ½ (π_old + 1); `same_context`, which takes the policy's own). A mixture with an exploring policy is of rollouts that go on from an attempt, and where plain ones count against it as well some of the policy must be left in it. An objective whose anchor is not the behaviour, or that has no ratio, does not read any of it, and one that couples rows cannot give single tokens away.",
  check(model) {
    for (const view of model.stages) {
      const { body } = view.config;
      if (view.config.kind !== "rl" || !helps(body.guidance)) continue;
      const ratio = body.guidance.ratio.declaration.name;
      const coupled = own.includes(ratio) && !objectiveNeeds(body).channels.includes("logp");
      const problem = coupled
        ? {
            severity: "error" as const,
            fit: ["same_context"],
            message: `\`guidance.ratio: ${ratio}\` takes single tokens from the objective, and \`${body.objective.loss.declaration.name}\` does not move tokens by their log-probs. \`same_context\` fits.`,
          }
        : problemOf(body);
      if (problem === undefined) continue;
      const paths = [
        ...(problem.params ?? []).map(([name]) => ["guidance", "ratio", name]),
        ["guidance", "ratio", "use"],
        ["guidance", "ratio"],
        ["objective", "anchor"],
        ["guidance", "source"],
        ["guidance"],
      ];
      const { fit, params = [], ...finding } = problem;
      const at = placeOf(view.body, "guidance", "ratio");
      tell(model, view, guidanceRatio, paths, {
        ...finding,
        mends: [
          ...fit.map((use) =>
            model.edits.set(pathIn(view, at, "guidance", "ratio"), use, `Set \`ratio: ${use}\``, false),
          ),
          ...params.map(([name, value]) =>
            model.edits.set(
              pathIn(view, at, "guidance", "ratio", name),
              value,
              `Set \`${name}: ${value}\``,
              false,
            ),
          ),
        ],
      });
    }
  },
};
