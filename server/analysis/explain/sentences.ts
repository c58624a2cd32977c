/** An explanation in sentences. Numbers that a sentence combines are those that the reader sees next to it. */
import { formatChange, formatCount, formatNumber, plural } from "../../../shared/lib/format.ts";
import { fromWire, type MaybeNumber, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Alternative, TokenRule, Why, WhyTopic } from "../../../shared/rollouts/why.ts";
import { criteriaWords } from "./criteria.ts";
import type { RecordedStep } from "./recordedStep.ts";

type Facts = Omit<Why, "words">;

const text = (value: MaybeNumber): string => formatNumber(fromWire(value));
const change = (value: number): string => formatChange(value);
const list = (words: readonly string[]): string =>
  words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

const baselineWords: Readonly<Record<string, string>> = {
  group_mean: "the mean of its group",
  leave_one_out: "the mean of the group's other rollouts",
  none: "no baseline",
};
const scaleWords: Readonly<Record<string, string>> = {
  group_std: "the spread of its group",
  batch_std: "the spread of the batch",
};

/**
 * @param refusal why the step's loss could not be computed; null where it could, or was not asked for
 * @param parent of a branch: whom it left, and where
 * @param components what terms gave next to their values
 */
export function inWords(
  facts: Facts,
  step: RecordedStep,
  refusal: string | null,
  { parent, components }: Pick<RolloutRow, "parent" | "components">,
): Why["words"] {
  const sentences: readonly (readonly [WhyTopic, string | undefined])[] = [
    [
      "advantage",
      facts.trains ? undefined : "Its group was not admitted, so it does not train. If it had been admitted:",
    ],
    ["advantage", advantageWords(facts, step)],
    ["advantage", recordedWords(facts, step)],
    ["advantage", parent === undefined ? undefined : branchWords(parent)],
    ["terms", termWords(facts)],
    ...Object.entries(components ?? {}).map(([term, own]): [WhyTopic, string] => [
      "terms",
      `\`${term}\` also gave ${list(Object.entries(own).map(([name, value]) => `${name} ${text(value)}`))}: recorded, not summed.`,
    ]),
    ...criteriaWords(
      facts.criteria ?? [],
      facts.siblings.findIndex(({ index }) => index === facts.index),
    ).map((sentence): [WhyTopic, string] => ["criteria", sentence]),
    ["alternatives", alternativeWords(facts)],
    ...tokenWords(facts, refusal).map((sentence): [WhyTopic, string] => ["tokens", sentence]),
  ];
  return sentences.flatMap(([about, sentence]) =>
    sentence === undefined ? [] : [{ about, text: sentence }],
  );
}

const branchWords = ({ index, token }: NonNullable<RolloutRow["parent"]>): string =>
  `It is a branch: up to token ${token} it has the tokens of rollout ${index}.`;

function advantageWords(facts: Facts, step: RecordedStep): string {
  const { reward, advantage, siblings, index, baseline } = facts;
  if (step.algorithm.takesRecorded)
    return advantage === null
      ? "The recorded rollout has no advantage, and the config computes none (advantage.baseline: given)."
      : `The advantage ${text(advantage)} is the recorded one (advantage.baseline: given).`;
  if (reward === null) {
    const note = siblings.find((sibling) => sibling.index === index)?.note ?? "it has no reward";
    return `It has no advantage: ${note}. It does not train, and its group's mean and spread leave it out.`;
  }
  if (advantage === null) return `It has no advantage: baseline ${baseline} gives it none.`;
  const rewards = siblings.flatMap((sibling) => (sibling.reward === null ? [] : [fromWire(sibling.reward)]));
  if (fromWire(advantage) === 0 && rewards.length > 1 && rewards.every((value) => value === rewards[0]))
    return `All ${rewards.length} rollouts of its group have the reward ${text(reward)}, so the advantage is 0 and nothing is learned.`;
  return computedWords(facts, step);
}

/** Where the run trained with another advantage than these rows and this config give. */
function recordedWords({ advantage, recorded }: Facts, step: RecordedStep): string | undefined {
  const [now, then] = [fromWire(advantage), fromWire(recorded)];
  // Runs keep advantages in single precision.
  if (step.algorithm.takesRecorded || !(Math.abs(now - then) > 1e-4 * Math.max(1, Math.abs(then))))
    return undefined;
  return `The recorded advantage is ${change(then)}: another config or other rollouts produced it.`;
}

/** Reward − baseline, divided by the spread: read off what the same baseline gives without a scale. */
function computedWords(
  { reward, advantage, baseline, scale, alternatives }: Facts,
  step: RecordedStep,
): string {
  const unscaled = alternatives.find((one) => one.baseline === baseline && one.scale === "none")?.advantage;
  const centred = fromWire(unscaled ?? null);
  const penalty = step.algorithm.kl.some(
    ({ place, coefficient }) => place === "reward" && coefficient(step.clock) !== 0,
  );
  const after = penalty ? ", with the KL penalty subtracted" : "";
  const begin = `Its reward is ${text(reward)}${after}`;
  const total = fromWire(advantage);
  const end = `the advantage ${change(total)}`;
  if (!Number.isFinite(centred)) return `${begin}; ${baseline} and ${scale} turn it into ${end}.`;
  const against =
    baseline === "none"
      ? begin
      : `${begin}, ${distance(centred)} ${baselineWords[baseline] ?? `the baseline (${baseline})`}, ${formatNumber(fromWire(reward) - centred)}`;
  if (scale === "none" || centred === total) return `${against}: ${end}.`;
  if (total === 0) return `${against}; the scale (${scale}) makes it 0.`;
  return `${against}; divided by ${formatNumber(centred / total)}, ${scaleWords[scale] ?? `the scale (${scale})`}: ${end}.`;
}

function distance(centred: number): string {
  if (centred === 0) return "exactly";
  return `${formatNumber(Math.abs(centred))} ${centred > 0 ? "above" : "below"}`;
}

function termWords({ shares, advantage }: Facts): string | undefined {
  if (shares.kind === "none") return advantage === null ? undefined : `No shares by term: ${shares.reason}.`;
  const contributing = shares.terms.filter(({ share }) => Math.abs(share) > 1e-12);
  if (contributing.length === 0) return undefined;
  const ordered = [...contributing].sort((one, other) => Math.abs(other.share) - Math.abs(one.share));
  const parts = ordered.map(({ term, share }) => `${change(share)} from ${term}`);
  const rest = Math.abs(shares.rest) > 1e-12 ? [`${change(shares.rest)} without any term`] : [];
  const only = contributing.length === 1 && rest.length === 0;
  return only
    ? `All of it comes from ${contributing[0]!.term}.`
    : `Of the ${formatChange(fromWire(advantage))}: ${list([...parts, ...rest])}.`;
}

/** One choice changed at a time: other baselines with the config's scale, other scales with its baseline. */
function alternativeWords({ alternatives, advantage, baseline, scale }: Facts): string | undefined {
  const own = fromWire(advantage);
  if (Number.isNaN(own)) return undefined;
  const others = alternatives.filter((one) => !one.chosen && one.advantage !== null);
  const of = (kind: "baseline" | "scale"): string[] => {
    const found = others.filter((one) =>
      kind === "baseline" ? one.scale === scale : one.baseline === baseline,
    );
    return rangeWords(kind, found, own);
  };
  const sentences = [...of("baseline"), ...of("scale")];
  return sentences.length === 0 ? undefined : sentences.join(" ");
}

/** Names the ends of the range, and those that would have turned the sign. */
function rangeWords(kind: "baseline" | "scale", found: readonly Alternative[], own: number): string[] {
  const sorted = found
    .map((one) => ({ name: one[kind], value: fromWire(one.advantage) }))
    .sort((one, other) => one.value - other.value);
  const [low, high] = [sorted[0], sorted.at(-1)];
  if (low === undefined || high === undefined) return [];
  const ends =
    low.value === high.value
      ? `Every other ${kind} gives ${change(low.value)}.`
      : `Other ${kind}s give ${change(low.value)} (${low.name}) to ${change(high.value)} (${high.name}).`;
  const turned = sorted.filter(({ value }) => value * own < 0).map(({ name }) => name);
  return turned.length === 0 ? [ends] : [ends, `The sign flips with ${list(turned)}.`];
}

const verb: Readonly<Record<TokenRule["effect"], string>> = {
  masked: "masked",
  clipped: "clipped",
  weighted: "weighted",
};

function tokenWords({ tokens }: Facts, refusal: string | null): string[] {
  const { total, trained, rules, clips } = tokens;
  if (total === 0) return ["The recorded rollout has no tokens."];
  const first =
    trained === total
      ? `All ${plural(total, "token")} train.`
      : `${formatCount(trained)} of ${plural(total, "token")} ${trained === 1 ? "trains" : "train"}.`;
  const acted = rules.map(
    ({ rule, effect, text: what, count }) => `${plural(count, "token")} ${verb[effect]} by ${rule}: ${what}.`,
  );
  if (refusal !== null) return [first, ...acted, `The loss could not be computed: ${refusal}.`];
  const unknown =
    clips === "unknown" && trained > 0
      ? ["Which tokens were clipped is unknown: the rollout has neither logp_new nor a record of its update."]
      : [];
  return [first, ...acted, ...unknown];
}
