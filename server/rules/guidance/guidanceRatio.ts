import { objectiveNeeds } from "../../algorithm/loss/modelsRead.ts";
import { givenBy, givenTrains, hasRatio, helps } from "../../core/config/guidanceFacts.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

interface RatioProblem {
  readonly message: string;
  /** Ratios that fit, likeliest first. */
  readonly fit: readonly string[];
  readonly severity: "error" | "warning";
  /** Parameters of the ratio that fix it, likeliest first. */
  readonly params?: readonly (readonly [name: string, value: string])[];
}

/** Ratios that give tokens a loss of their own, which no anchor is read for. */
const own: readonly string[] = ["shaped", "imitation"];

function problemOf({ guidance, objective }: StageBody): RatioProblem | undefined {
  const ratio = guidance.ratio.declaration.name;
  const gives = givenBy(guidance);
  if (ratio === "true_behaviour" && givenTrains(guidance) && gives.likely !== true)
    return {
      severity: "error",
      fit: ["shaped", "multiple_importance", "same_context"],
      message: `Prefilled tokens train, and the probability with which \`${guidance.source.declaration.name}\` wrote them is unknown, but \`guidance.ratio: true_behaviour\` divides by it: choose \`shaped\`, \`multiple_importance\` or \`same_context\`.`,
    };
  if (ratio === "mixture" && !(gives.reads === "attempt" && gives.place === "response"))
    return {
      severity: "error",
      fit: ["same_context"],
      message: `\`guidance.ratio: mixture\` needs rollouts that continue a failed attempt, and those of \`${guidance.source.declaration.name}\` do not: choose \`source: probe\`, or \`feedback\` with \`place: continue\`.`,
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
        "With `alpha: 1` the mixture contains nothing of the policy: for a plain rollout under `plain: mixture` (1 − α) π_old is 0 and the ratio infinite. Set `plain: keep`, or `alpha` below 1.",
    };
  const { anchor } = objective.loss.params;
  const anchored = ratio !== "same_context" && !own.includes(ratio);
  if (anchored && typeof anchor === "string" && anchor !== "behaviour")
    return {
      severity: "error",
      fit: ["same_context"],
      message: `\`objective.anchor: ${anchor}\` is the denominator of every ratio, so \`guidance.ratio: ${ratio}\` would not be read: set \`anchor: behaviour\`.`,
    };
  if (anchored && !hasRatio(objective))
    return {
      severity: "warning",
      fit: ["same_context"],
      message: `\`objective: ${objective.loss.declaration.name}\` has no ratio to the behaviour policy, so \`guidance.ratio: ${ratio}\` is not read.`,
    };
  return undefined;
}

export const guidanceRatio: Rule = {
  id: "guidance-ratio",
  title: "Ratio that helped rollouts cannot have",
  why: "The denominator of the ratio of a helped rollout's tokens depends on what wrote them. A model of the run gives every token's probability. A worked solution or a file of answers gives none, so only ratios that need none fit (`shaped`: π / (π + γ); `multiple_importance`, which takes ½ (π_old + 1); `same_context`, which takes the policy's own). A mixture with an exploring policy is for rollouts that continue an attempt; if plain rollouts also use it, it must keep some weight on the policy. An objective whose anchor is not the behaviour policy, or that has no ratio, reads none of this. An objective that couples rows cannot leave single tokens out.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    if (!helps(body.guidance)) return;
    const ratio = body.guidance.ratio.declaration.name;
    const coupled = own.includes(ratio) && !objectiveNeeds(body).channels.includes("logp");
    const problem = coupled
      ? {
          severity: "error" as const,
          fit: ["same_context"],
          message: `\`guidance.ratio: ${ratio}\` takes single tokens out of the objective, but \`${body.objective.loss.declaration.name}\` does not move tokens by their log-probs: choose \`same_context\`.`,
        }
      : problemOf(body);
    if (problem === undefined) return;
    const paths = [
      ...(problem.params ?? []).map(([name]) => ["guidance", "ratio", name]),
      ["guidance", "ratio", "use"],
      ["guidance", "ratio"],
      ["objective", "anchor"],
      ["guidance", "source"],
      ["guidance"],
    ];
    const { fit, params = [], ...diagnostic } = problem;
    const at = placeOf(view.body, "guidance", "ratio");
    reportAt(model, view, guidanceRatio, paths, {
      ...diagnostic,
      fileFixes: [
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
  }),
};
