import { perObject } from "../../lib/perObject.ts";
import type { RewardTermConfig } from "../../core/config/resolved.ts";
import { appliesTo } from "../ranges.ts";
import type { StageView } from "../../config/check/model.ts";
import { at as nodeAt, isOwn, placeOf, reportAt, type Rule } from "../rule.ts";

const kindOf = perObject(({ declaration, params, use }: RewardTermConfig["term"]) =>
  JSON.stringify([declaration.name, params, declaration.name === "user" ? use : ""]),
);

type RewardTerms = readonly RewardTermConfig[];

/** Terms of one kind; most configs have none. */
const repeated = perObject((terms: RewardTerms): readonly RewardTerms[] => {
  const kinds = new Map<string, RewardTermConfig[]>();
  for (const term of terms) {
    const kind = `${kindOf(term.term)} ${term.attempts}`;
    const alike = kinds.get(kind);
    if (alike === undefined) kinds.set(kind, [term]);
    else alike.push(term);
  }
  return [...kinds.values()].filter(({ length }) => length > 1);
});

/** Two terms that always say the same thing. */
export const duplicateTerm: Rule = {
  id: "duplicate-term",
  title: "Terms that duplicate or cancel each other",
  why: "Two terms that use one method with the same parameters, over the same attempts, give every rollout the same value. With weights of one sign they are one term whose weight is the sum; with opposite weights they cancel each other, wholly or in part. Either way the weight in the config is not the weight that acts.\n\nKeep one of them, with the weight you want.",
  check(model) {
    // Stages that share their terms would say the same again.
    const reported = new Map<RewardTerms, Set<string>>();
    for (const view of model.stages) {
      if (view.config.kind !== "rl") continue;
      const { terms } = view.config.body.reward;
      const said = reported.get(terms) ?? new Set();
      reported.set(terms, said);
      for (const group of repeated(terms).flatMap((kind) => meeting(view, kind))) {
        const [earlier, later] = group;
        if (earlier === undefined || later === undefined) continue;
        const what = JSON.stringify([earlier.name, later.name, group.length]);
        if (!said.has(what)) report(model, view, earlier, later, group.length - 2);
        said.add(what);
      }
    }
  },
};

/** Terms that apply to a common task: one diagnostic covers all of them. */
function meeting(view: StageView, terms: RewardTerms): RewardTermConfig[][] {
  const groups: RewardTermConfig[][] = [];
  for (const term of terms) {
    const meets = groups.find(([first]) => first !== undefined && shared(view, first, term));
    if (meets === undefined) groups.push([term]);
    else meets.push(term);
  }
  return groups;
}

const shared = ({ config }: StageView, a: RewardTermConfig, b: RewardTermConfig): boolean =>
  config.body.tasks.some(({ name }) => appliesTo(a, name) && appliesTo(b, name));

function report(
  model: Parameters<Rule["check"]>[0],
  view: StageView,
  earlier: RewardTermConfig,
  later: RewardTermConfig,
  others: number,
): void {
  const path = (term: RewardTermConfig): string[] => ["reward", "terms", term.name];
  if (!isOwn(placeOf(view.body, ...path(later))) && !isOwn(placeOf(view.body, ...path(earlier)))) return;
  const [first, second] = [earlier.weight, later.weight];
  const summed = view.config.body.reward.combine.declaration.name === "sum";
  const sum =
    typeof first === "number" && typeof second === "number" && summed ? round(first + second) : undefined;
  const then =
    sum === undefined
      ? "the reward counts it twice"
      : sum === 0
        ? `their weights ${weightText(first)} and ${weightText(second)} cancel, so neither has any effect`
        : `together they weigh ${weightText(first)} + ${weightText(second)} = ${sum}`;
  const merged = sum === undefined || sum === 0 ? undefined : merging(model, view, earlier, later, sum);
  reportAt(model, view, duplicateTerm, [path(later), path(earlier)], {
    severity: "warning",
    message: `\`${later.name}\` gives the same values as \`${earlier.name}\`: ${then}.${others === 0 ? "" : ` ${others} more ${others === 1 ? "term does" : "terms do"} too.`}`,
    related: [{ at: placeOf(view.body, ...path(earlier)), message: `\`${earlier.name}\`` }],
    fileFixes: [merged],
  });
}

/** One term of the summed weight, where no other place names the one that goes. */
function merging(
  { edits, stages }: Parameters<Rule["check"]>[0],
  view: StageView,
  earlier: RewardTermConfig,
  later: RewardTermConfig,
  sum: number,
): ReturnType<typeof edits.set> {
  const { success } = view.config.body.reward;
  const named =
    success.terms?.includes(later.name) === true || stages.some(({ written }) => written !== undefined);
  const whole = JSON.stringify(earlier.tasks ?? []) === JSON.stringify(later.tasks ?? []);
  if (named || !whole || nodeAt(view.body, "reward", "terms", later.name)?.origin.layer !== "file")
    return undefined;
  const title = `Keep \`${earlier.name}\` with weight ${sum} (= ${weightText(earlier.weight)} + ${weightText(later.weight)})`;
  const weight = edits.set(["reward", "terms", earlier.name, "weight"], String(sum), title);
  const gone = edits.remove(["reward", "terms", later.name], title);
  return weight && gone && { title, edits: [...weight.edits, ...gone.edits] };
}

const round = (value: number): number => Number(value.toPrecision(12));
const weightText = (weight: RewardTermConfig["weight"]): string =>
  typeof weight === "number" ? String(weight) : "a schedule";
