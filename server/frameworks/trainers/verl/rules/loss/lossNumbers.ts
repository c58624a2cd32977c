import { setTo } from "../../fixes.ts";
import { actor, found, shortName, verlRule } from "../../rule.ts";
import type { RuleDiagnostic, RuleModel } from "../../../../rules/rule.ts";

const mode = `${actor}.policy_loss.loss_mode`;

interface LossParameter {
  readonly losses: readonly string[];
  readonly key: string;
  /** Not reached itself. */
  readonly above: number;
  readonly usual: string;
}
const needs: readonly LossParameter[] = [
  { losses: ["dro"], key: `${actor}.policy_loss.dro_beta`, above: 0, usual: "0.1" },
  { losses: ["vanilla", "bypass_mode"], key: `${actor}.clip_ratio_c`, above: 1, usual: "3.0" },
  { losses: ["clip_cov"], key: `${actor}.policy_loss.clip_cov_ratio`, above: 0, usual: "0.0002" },
  { losses: ["kl_cov"], key: `${actor}.policy_loss.kl_cov_ratio`, above: 0, usual: "0.0002" },
];

function unmet(model: RuleModel, loss: string, { key, above, usual }: LossParameter): RuleDiagnostic[] {
  const value = model.value(key);
  const number = model.number(key);
  if (value === undefined || (number !== undefined && number > above)) return [];
  const message = `\`loss_mode\` \`${loss}\` needs \`${shortName(key)}\` above ${above}, but it is ${String(value)}: the first update stops.`;
  return found(model, [key, mode], message, { fixes: value === null ? [] : [setTo(model, key, usual)] });
}

export const lossNumbers = verlRule({
  id: "verl-loss-numbers",
  title: "Policy loss lacks a parameter",
  why: "The losses of verl/trainer/ppo/core_algos.py assert their own numbers in the first update: DRO a `dro_beta` above 0, PPO's dual clip a `clip_ratio_c` above 1, Clip-Cov and KL-Cov a share of tokens above 0.",
  check(model) {
    const loss = model.text(mode);
    if (loss === undefined) return [];
    return needs.filter(({ losses }) => losses.includes(loss)).flatMap((need) => unmet(model, loss, need));
  },
});
