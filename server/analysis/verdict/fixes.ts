/** Edits of the config that answer a verdict. What they would have done is not known here: recorded rollouts say it. */
import type { VerdictFix } from "../../../shared/run/verdict.ts";
import { formatCount, formatNumber } from "../../../shared/lib/format.ts";
import { configuredTerms } from "./facts.ts";
import { valueAt } from "../evidence/json.ts";
import type { VerdictView } from "./view.ts";

const most = 2;

export function fixesOf(view: VerdictView): readonly VerdictFix[] {
  const { finding } = view;
  switch (finding.state) {
    case "collapsed":
    case "hacking":
      return [...ofTerm(view), ...keptByGold(view), ...gentler(view)].slice(0, most);
    case "unstable":
      return gentler(view);
    case "starved":
      return [...largerGroups(view)].slice(0, most);
    default:
      return [];
  }
}

/** Not of a term that success depends on: without it nothing would be learned. */
function ofTerm({ finding: { term, kind }, moment: { facts }, record }: VerdictView): readonly VerdictFix[] {
  if (term === null || kind === "any-answer" || facts.success.has(term)) return [];
  // Of a run without a config there is nothing to edit.
  if (!configuredTerms(record.config).includes(term)) return [];
  const [success] = facts.success;
  return [
    {
      title: `Reward \`${term}\` only where \`${success}\` is`,
      set: [{ path: "reward.combine", value: "product" }],
      effect: null,
      leaves: "Groups without any right answer then teach nothing.",
    },
    {
      title: `Leave \`${term}\` out`,
      set: [{ path: `reward.terms.${term}.weight`, value: 0 }],
      effect: null,
      leaves: null,
    },
  ];
}

/** The checkpoint that the gold term likes most: later ones are worse. */
function keptByGold({
  finding,
  moment: { goldFall },
  record: { config },
}: VerdictView): readonly VerdictFix[] {
  if (finding.kind !== "gold" || goldFall === null) return [];
  const metric = `eval/reward/${goldFall.term}`;
  if (valueAt(config, ["checkpoint", "best", "metric"]) === metric) return [];
  return [
    {
      title: `Keep the checkpoint that \`${goldFall.term}\` likes best`,
      set: [{ path: "checkpoint.best", value: { metric, mode: "max" } }],
      effect: null,
      leaves: `Training still goes on after step ${goldFall.step}, where \`${goldFall.term}\` was best.`,
    },
  ];
}

/** A tenth of the learning rate. */
function gentler({ record: { config }, finding }: VerdictView): readonly VerdictFix[] {
  const path = "update.optimizer.lr";
  const rate = valueAt(config, path.split("."));
  if (typeof rate !== "number" || finding.term !== null) return [];
  const less = Number((rate / 10).toPrecision(3));
  return [
    {
      title: `lr ${formatNumber(rate)} → ${formatNumber(less)}`,
      set: [{ path, value: less }],
      effect: null,
      leaves: null,
    },
  ];
}

/** The same rollouts in fewer, larger groups: the chance that a group is mixed grows with its size. */
function* largerGroups({ finding, moment, record }: VerdictView): Generator<VerdictFix> {
  const { group, prompts } = moment.facts;
  if (finding.kind !== "too-hard" || group === null || prompts === null || prompts < 4) return;
  const [larger, fewer] = [group * 4, Math.floor(prompts / 4)];
  const tallies = record.groups.filter(({ rollouts }) => rollouts > 0);
  const groups = tallies.reduce((sum, tally) => sum + tally.groups, 0);
  // By arm: a mean over all tasks would hide that some are never solved.
  const chance = (size: number): number =>
    tallies.reduce((sum, tally) => sum + tally.groups * mixed(tally.successes / tally.rollouts, size), 0) /
    groups;
  const [now, then] = [
    Math.round(prompts * group * chance(group)),
    Math.round(fewer * larger * chance(larger)),
  ];
  if (groups === 0 || then <= now) return;
  yield {
    title: `group ${group} → ${larger}, prompts ${prompts} → ${fewer}`,
    set: [
      { path: "rollout.group", value: larger },
      { path: "rollout.prompts", value: fewer },
    ],
    effect: `predicted ${formatCount(now)} → ${formatCount(then)} of ${formatCount(prompts * group)} rollouts in mixed groups`,
    leaves: null,
  };
}

const mixed = (rate: number, size: number): number => 1 - rate ** size - (1 - rate) ** size;
