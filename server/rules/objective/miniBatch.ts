import { eachRlStage, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** Mini-batches are equal parts of a step's rollouts, and a group compared by its loss stays whole. */
export const miniBatch: Rule = {
  id: "mini-batch",
  title: "Mini-batch that does not fit the step",
  why: "A step's `prompts × group` rollouts are split into mini-batches, one optimiser step each. A size that does not divide them would leave a smaller last mini-batch, whose rollouts would weigh more. A size that is not a multiple of the group splits groups between updates: the advantages stay right, but the rollouts of one group train different policies, and an objective that pairs or ranks rollouts misses some. A mini-batch larger than the step is never filled.\n\nverl and TRL also refuse the first at the start of a run.",
  check: eachRlStage((view, model) => {
    const { rollout, update } = view.config.body;
    const size = update.mini_batch;
    if (size === undefined) return;
    const all = rollout.prompts * rollout.group;
    const path = pathIn(view, placeOf(view.body, "update", "mini_batch"), "update", "mini_batch");
    if (size <= all && all % size === 0 && size % rollout.group === 0) return;
    const fileFixes = nearestSizes(all, size, rollout.group).map((value, index) =>
      model.edits.set(path, String(value), titleOf(value, all, rollout.group), index === 0),
    );
    const product = `${rollout.prompts} prompts × ${rollout.group} rollouts = ${all}`;
    const message =
      size > all
        ? `A step has only ${product} rollouts, fewer than \`update.mini_batch\` ${size}, so each step is one update on all of them.`
        : all % size !== 0
          ? `\`update.mini_batch\` ${size} does not divide a step's rollouts (${product}), so the last update would have only ${all % size}. Use ${divisors(all, size).join(" or ")}.`
          : `\`update.mini_batch\` ${size} is not a multiple of \`rollout.group\` ${rollout.group}, so groups are split between updates.`;
    const refused = size <= all && all % size !== 0;
    reportAt(
      model,
      view,
      miniBatch,
      [
        ["update", "mini_batch"],
        ["rollout", "group"],
        ["rollout", "prompts"],
      ],
      {
        key: "update.mini_batch",
        ...(refused ? {} : { severity: "warning" }),
        message,
        fileFixes,
      },
    );
  }),
};

/** The nearest sizes that divide, whole groups where there are such; the nearest first. */
function nearestSizes(all: number, wanted: number, group: number): number[] {
  const sizes = divisors(all, Math.min(wanted, all + 1)).concat(wanted >= all ? [all] : []);
  const whole = Array.from({ length: all / group }, (_, i) => (i + 1) * group).filter((n) => all % n === 0);
  const below = whole.filter((n) => n < wanted).at(-1);
  const above = whole.find((n) => n > wanted);
  const best = [below, above].filter((n) => n !== undefined);
  const distance = (n: number): number => Math.abs(n - wanted);
  return [...new Set(best.length > 0 ? best : sizes)].sort((a, b) => distance(a) - distance(b));
}

const titleOf = (size: number, all: number, group: number): string =>
  size % group === 0
    ? `Change to ${size} (= ${size / group} groups × ${group})`
    : `Change to ${size} (= ${all} rollouts / ${all / size})`;

/** The nearest sizes that divide, below and above. */
function divisors(all: number, wanted: number): number[] {
  const every = Array.from({ length: all }, (_, i) => i + 1).filter((n) => all % n === 0);
  return [every.filter((n) => n < wanted).at(-1), every.find((n) => n > wanted)].filter(
    (n) => n !== undefined,
  );
}
