import type { Fix } from "../../config/check/diagnostic.ts";
import type { AdvantageConfig, RewardTermConfig, StageBody } from "../../core/config/resolved.ts";
import { scheduledRange, termRange } from "../ranges.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { firstTime, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";
import { admitsAllWrong, formOf, rewardsWrongAnswers, rolesOf, type Form } from "./termRoles.ts";

/** Baselines that ask only whether a reward reaches a bound, or that take advantages from elsewhere. */
const bounded: ReadonlySet<string> = new Set(["pass_at_k", "given"]);

/** If one term alone distinguishes equal answers, dividing by the spread cancels its weight. */
export const auxiliaryDecides: Rule = {
  id: "auxiliary-decides",
  title: "Auxiliary term that alone decides groups with equal answers",
  why: "In a group whose answers are all wrong (or all correct), the terms that judge answers give every rollout the same reward. Only the other terms then differ between rollouts: a length, a format, a function of your own. A scale that divides by the group's spread (`group_std`), by its mean reward or down to a sign removes the size of that difference: with n rollouts an advantage reaches (n − 1)/√n under `group_std`, 2.47 with 8, whether the weight is 0.001 or 1. While most groups are still all wrong, the policy learns the auxiliary term and nothing else; a term that prefers short answers ends in empty ones. Scales over the whole step (`batch_std`, `whiten`) do the same in steps in which no group has both correct and wrong answers.\n\nDr. GRPO leaves the division out for a related reason (Liu et al., Understanding R1-Zero-Like Training); DAPO leaves out groups with equal answers (Yu et al., DAPO); Kimi k1.5 rewards brevity only when the answer is correct (Kimi Team, Kimi k1.5).\n\nReward the term only when the answer is correct: `reward.combine: product` makes it a factor on the correct answer, and your own function may return `null` otherwise. Or leave such groups out (`curriculum.admission: { use: success_band, low: 0, high: 1, inclusive: false }`), or use `advantage.scale: none`. A small format reward is often used this way on purpose, so its diagnostic is only a note; so is the diagnostic for a function that receives the task and may check the answer itself.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages) {
      const { body, kind } = view.config;
      const size = kind === "rl" ? divisorOf(body.advantage) : undefined;
      if (size === undefined || body.rollout.group < 2 || !admitsAllWrong(body)) continue;
      for (const term of decidingTerms(body)) if (fresh(term.term)) inspect(model, view, term, size);
    }
  },
};

/** What makes the weight meaningless, and within what. */
interface Divisor {
  readonly key: "scale" | "whiten";
  readonly name: string;
  readonly within: "group" | "step";
}

export function divisorOf({ baseline, scale, whiten, per_source }: AdvantageConfig): Divisor | undefined {
  // Terms that are scaled one by one are weighed afterwards: their weights count.
  if (per_source || bounded.has(baseline.declaration.name)) return undefined;
  const { name, divides } = scale.declaration;
  if (divides !== undefined) return { key: "scale", name, within: divides };
  const whitens = typeof whiten === "string" ? whiten !== "none" : whiten.scale;
  return whitens ? { key: "whiten", name: "whiten", within: "step" } : undefined;
}

/** Terms that reward wrong answers, other than those that judge answers. */
export function decidingTerms(body: StageBody): readonly RewardTermConfig[] {
  const found = new Set<RewardTermConfig>();
  for (const { name } of body.tasks) {
    const roles = rolesOf(body.reward, name);
    if (roles.answers.length === 0 || !rewardsWrongAnswers(body.reward, roles)) continue;
    for (const term of roles.auxiliary) if (formOf(term) !== undefined) found.add(term);
  }
  return [...found];
}

const heaviest = ({ weight }: RewardTermConfig): number => Math.max(...scheduledRange(weight).map(Math.abs));

/** The advantage of the only rollout of a group that a term rewards. */
function reach({ advantage, rollout: { group: n } }: StageBody, difference: number): number | undefined {
  const { declaration, params } = advantage.scale;
  if (declaration.name === "sign") return 1;
  if (declaration.name === "mean_reward") return n - 1;
  if (declaration.name !== "group_std") return undefined;
  const spread = difference * (params["population"] === true ? Math.sqrt(n - 1) / n : 1 / Math.sqrt(n));
  const epsilon = typeof params["epsilon"] === "number" ? params["epsilon"] : 0;
  return (difference * (1 - 1 / n)) / (spread + epsilon);
}

function inspect(model: ConfigModel, view: StageView, term: RewardTermConfig, divisor: Divisor): void {
  const { body } = view.config;
  const form = formOf(term);
  const paths = [
    ["reward", "terms", term.name],
    ["advantage", divisor.key],
  ];
  if (form === undefined || !paths.some((path) => isOwn(placeOf(view.body, ...path)))) return;
  const range = termRange(term) ?? [0, 1];
  const most = reach(body, heaviest(term) * (range[1] - range[0]));
  // Against a large epsilon a small weight counts for what it is.
  if (most !== undefined && most < 0.5 * (reach(body, Number.MAX_VALUE ** 0.5) ?? 0)) return;
  const isLoud = divisor.within === "group" && (form === "gradual" || form === "blind");
  reportAt(model, view, auxiliaryDecides, paths, {
    severity: isLoud ? "warning" : "info",
    message: `${where(divisor, term)}${effect(divisor, term, most, body.rollout.group)}${known(form, term)} ${advice(form)}`,
    related: [
      { at: placeOf(view.body, "advantage", divisor.key), message: `\`${divisor.name}\` divides by it` },
    ],
    fileFixes: fixesFor(model, view, term),
  });
}

const where = ({ within }: Divisor, { name }: RewardTermConfig): string =>
  within === "group"
    ? `In a group whose answers are all wrong, only \`${name}\` differs between them, `
    : `In a step without a group of both correct and wrong answers, only \`${name}\` differs between answers, `;

function effect({ name }: Divisor, term: RewardTermConfig, most: number | undefined, group: number): string {
  const weight = Number(heaviest(term).toPrecision(4));
  return most === undefined
    ? `and \`${name}\` divides by that difference, so its weight, ${weight}, does not matter.`
    : `and \`${name}\` divides by that difference, so with weight ${weight} an advantage still reaches ${Number(most.toPrecision(3))} (group of ${group}).`;
}

function known(form: Form, { term, name, weight }: RewardTermConfig): string {
  if (form === "gradual" && scheduledRange(weight).some((end) => end > 0))
    return " An empty answer earns the most from it.";
  if (form === "blind")
    return ` \`${String(term.params["export"] ?? name)}\` does not receive the task, so it cannot know which answers are correct.`;
  return "";
}

const advice = (form: Form): string =>
  form === "open"
    ? "Return `null` or 0 for wrong answers if the function does not do so yet."
    : form === "flat"
      ? "If you do not want that, reward it only when the answer is correct (`reward.combine: product`), or use `advantage.scale: none`."
      : "Reward it only when the answer is correct (`reward.combine: product`), leave such groups out, or use `advantage.scale: none`.";

function fixesFor({ edits }: ConfigModel, view: StageView, term: RewardTermConfig): (Fix | undefined)[] {
  const { reward, curriculum } = view.config.body;
  const atTop = (...path: readonly string[]): boolean => placeOf(view.body, ...path)?.stage === undefined;
  const path = (...keys: readonly string[]): ReturnType<typeof pathIn> =>
    pathIn(view, placeOf(view.body, ...keys), ...keys);
  const least = (termRange(term) ?? [0])[0];
  const isFactor =
    reward.combine.declaration.name === "sum" && least >= 0 && Math.min(...scheduledRange(term.weight)) >= 0;
  return [
    isFactor && atTop("reward", "combine")
      ? edits.set(
          ["reward", "combine"],
          "product",
          `Make \`${term.name}\` a factor on the correct answer: \`combine: product\``,
          false,
        )
      : undefined,
    curriculum.admission.declaration.name === "none" && atTop("curriculum", "admission")
      ? edits.set(
          ["curriculum", "admission"],
          "{ use: success_band, low: 0, high: 1, inclusive: false }",
          "Leave out groups whose answers are all correct or all wrong: `success_band` without its ends",
          false,
        )
      : undefined,
    view.config.body.advantage.whiten === "none"
      ? edits.set(path("advantage", "scale"), "none", "Change to `scale: none`", false)
      : undefined,
  ];
}
