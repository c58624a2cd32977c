/**
 * A trainer's advantage estimators, each declared once as the block that a config would have. Conversion reads the block that
 * a setting names; export takes the nearest one, and says by path what it computes otherwise.
 */
import { isObject, objectOf, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { nameOf, type Chosen, type SettingsDraft } from "./exportDraft.ts";
import { filledIn, isFlag, isKey } from "./holes.ts";
import type { Settings } from "./settings.ts";

type AdvantageBlock = StageBody["advantage"];

export interface AdvantageLens {
  /** By their names, the blocks that a config would have, with holes. Of two that fit alike the first counts. */
  readonly estimators: Readonly<Record<string, JsonObject>>;
  /** The baseline that stands in for one that the trainer does not have. */
  readonly instead: string;
  /** The trainer has no names for them: they are ours. */
  readonly unnamed?: true;
  /** Names that are read as another's, and never written. */
  readonly readAs?: Readonly<Record<string, string>>;
  /** Keys of the block that the trainer's own file writes. */
  readonly apart?: readonly (keyof AdvantageBlock)[];
}

/** @returns the block that a config has for an estimator; undefined where the trainer has none of the name */
export function readAdvantage(
  { estimators, readAs = {} }: AdvantageLens,
  name: string,
  settings: Settings,
): JsonObject | undefined {
  const found = estimators[readAs[name] ?? name];
  return found === undefined ? undefined : filledIn(found, settings);
}

export const useOf = (value: Json | undefined): string => String(isObject(value) ? value["use"] : value);
/** What may divide, by an estimator and its switch. */
const scalesOf = ({ scale }: JsonObject): readonly Json[] =>
  isFlag(scale) ? [scale.on, scale.off] : [scale ?? "none"];

/**
 * Writes the nearest estimator's numbers and switches, and what it computes otherwise.
 * @returns its name
 */
export function writeAdvantage(lens: AdvantageLens, block: AdvantageBlock, draft: SettingsDraft): string {
  const { apart = [] } = lens;
  const baseline = nameOf(block.baseline);
  const of = (name: string): [string, JsonObject][] =>
    Object.entries(lens.estimators).filter(([, one]) => useOf(one["baseline"]) === name);
  const own = of(baseline);
  if (own.length === 0 && !apart.includes("baseline"))
    draft.miss(
      "advantage.baseline",
      baseline,
      `${draft.engine} has no such baseline: it subtracts the group's mean.`,
    );
  const [name, chosen] = nearest(own.length === 0 ? of(lens.instead) : own, block);
  const writer = new AdvantageWriter(block, lens.unnamed ? undefined : name, chosen, draft);
  if (!apart.includes("scale")) writer.scale();
  if (!apart.includes("level")) writer.levels();
  if (isObject(chosen["baseline"]) && isKey(chosen["baseline"]["lambda"]))
    writer.critic(chosen["baseline"]["lambda"].$key);
  writer.others(apart);
  return name;
}

/** The first of those that fit best. */
const nearest = (some: readonly [string, JsonObject][], block: AdvantageBlock): [string, JsonObject] =>
  some.reduce((best, one) => (fits(one[1], block) > fits(best[1], block) ? one : best));

function fits(estimator: JsonObject, { scale, whiten, per_source }: AdvantageBlock): number {
  const divides = scalesOf(estimator).some((one) => useOf(one) === nameOf(scale));
  const whitens = (estimator["whiten"] ?? "none") !== "none";
  return (
    Number(divides) +
    Number(whitens === (whiten !== "none")) +
    Number((estimator["per_source"] ?? false) === per_source)
  );
}

/** Below it a constant only keeps a division finite. */
const leastFelt = 1e-5;
const divisors: Readonly<Record<string, string>> = { group_std: "standard deviation", mean_reward: "mean" };

/** A wanted block held against an estimator. */
class AdvantageWriter {
  private readonly trainer: string;
  /** "verl's grpo" */
  private readonly its: string;
  private readonly byToken: boolean;

  constructor(
    private readonly block: AdvantageBlock,
    name: string | undefined,
    private readonly chosen: JsonObject,
    private readonly draft: SettingsDraft,
  ) {
    this.trainer = draft.engine;
    this.its = name === undefined ? draft.engine : `${draft.engine}'s ${name}`;
    this.byToken = chosen["level"] === "token";
  }

  private miss(path: string, value: unknown, reason: string, changes?: "guard"): void {
    this.draft.miss(`advantage.${path}`, value, reason, changes);
  }

  scale(): void {
    const { scale } = this.block;
    const name = nameOf(scale);
    const own = this.chosen["scale"];
    const theirs = scalesOf(this.chosen);
    if (isFlag(own)) this.draft.set(own.$flag, name !== useOf(own.off));
    const found = theirs.find((one) => useOf(one) === name);
    if (found === undefined) {
      const divides = useOf(theirs[0]) !== "none";
      this.miss(
        "scale",
        name,
        divides
          ? `${this.trainer} divides by the standard deviation of the group's rewards.`
          : `${this.its} divides by nothing.`,
      );
    } else this.divisor(scale, found);
  }

  private divisor({ params }: Chosen, theirs: Json): void {
    const what = divisors[useOf(theirs)] ?? "standard deviation";
    const { epsilon } = objectOf(theirs);
    if (epsilon !== undefined && params["epsilon"] !== epsilon)
      this.miss(
        "scale.epsilon",
        params["epsilon"],
        `${this.trainer} adds ${Number(epsilon)} to the ${what}.`,
        Number(epsilon) < leastFelt ? "guard" : undefined,
      );
    if (params["norm"] !== undefined && params["norm"] !== 1)
      this.miss("scale.norm", params["norm"], `${this.its} has none.`);
    if (params["population"] === true)
      this.miss("scale.population", true, `${this.trainer}'s standard deviation divides by n − 1.`);
    if (params["of"] === "advantages")
      this.miss("scale.of", "advantages", `${this.trainer} takes the standard deviation of the rewards.`);
  }

  levels(): void {
    const { level, gamma, returns } = this.block;
    // A critic, and what is made for tokens, works on them where the level is `auto`.
    if (level !== "auto" && level !== (this.byToken ? "token" : "response"))
      this.miss("level", level, `${this.its} works on ${this.byToken ? "tokens" : "whole responses"}.`);
    if (!this.byToken) return;
    const discount = this.draft.constant("advantage.gamma", gamma);
    const own = this.chosen["gamma"];
    if (isKey(own)) this.draft.set(own.$key, discount);
    else if (discount !== 1) this.miss("gamma", discount, `${this.its} has no discount.`);
    const order = this.chosen["returns"] ?? "after";
    if (returns !== order && level !== "auto" && useOf(this.chosen["baseline"]) !== "critic")
      this.miss("returns", returns, `${this.its} sums later tokens ${String(order)} the baseline.`);
  }

  /** @param setting holds λ */
  critic(setting: string): void {
    const { params } = this.block.baseline as Chosen;
    const lost = (name: string, reason: string): void => this.miss(`baseline.${name}`, params[name], reason);
    const { lambda, lambda_returns: returns } = params;
    if (typeof lambda === "number") this.draft.set(setting, lambda);
    else lost("lambda", `${this.trainer}'s λ is one number: it stays at 1.`);
    if (returns !== undefined && returns !== lambda)
      lost("lambda_returns", `${this.trainer}'s critic learns returns of the same λ.`);
    if (params["gamma"] !== undefined)
      lost("gamma", `${this.trainer} has one discount: \`advantage.gamma\`.`);
    if (params["truncated"] !== "zero") lost("truncated", `In ${this.trainer} 0 follows every response.`);
  }

  /** What follows in Gradus, and does not in the trainer. @param apart what is written elsewhere */
  others(apart: readonly string[]): void {
    const { filter, clip, sign, token_weights: weights, penalty } = this.block;
    const lost = (path: keyof AdvantageBlock, value: unknown, reason: string): void => {
      if (!apart.includes(path)) this.miss(path, value, reason);
    };
    this.apartOrSummed(lost);
    this.whitened(lost);
    if (filter !== "none") lost("filter", filter, `${this.trainer} trains on all responses.`);
    if (clip !== "none") lost("clip", clip, `${this.trainer} does not bound advantages.`);
    if (sign.positive !== 1 || sign.negative !== 1)
      lost("sign", sign, `${this.trainer} weights advantages of both signs alike.`);
    if (penalty !== "in_reward" && !this.byToken)
      lost("penalty", penalty, `${this.trainer} subtracts the penalty from the reward, before the baseline.`);
    for (const one of weights)
      lost("token_weights", nameOf(one), `${this.trainer} weights all tokens of a response alike.`);
  }

  private apartOrSummed(lost: (path: "per_source", value: unknown, reason: string) => void): void {
    const { per_source: apart } = this.block;
    if (apart !== (this.chosen["per_source"] ?? false))
      lost(
        "per_source",
        apart,
        `${this.its} ${apart ? "sums the weighted terms first" : "scales each term by itself"}.`,
      );
  }

  private whitened(lost: (path: "whiten", value: unknown, reason: string) => void): void {
    const { whiten } = this.block;
    const theirs = this.chosen["whiten"] ?? "none";
    if (!isSameWhitening(whiten, theirs))
      lost(
        "whiten",
        whiten,
        theirs === "none"
          ? `${this.its} does not standardise finished advantages.`
          : `${this.its} standardises advantages over the ${overOf(theirs)} of the step.`,
      );
  }
}

export const isSameWhitening = (own: AdvantageBlock["whiten"], theirs: Json): boolean =>
  whiteningOf(own) === whiteningOf(theirs);

const overOf = (whiten: Json): string => String(isObject(whiten) ? (whiten["over"] ?? "tokens") : whiten);

/** Two ways to write the same are the same text. */
function whiteningOf(whiten: unknown): string {
  if (whiten === "none") return "none";
  const written: JsonObject = isObject(whiten) ? whiten : { over: String(whiten) };
  const { over = "tokens", center = true, scale = true, population = false } = written;
  const byToken = over === "tokens";
  const { epsilon = byToken ? 1e-8 : 1e-4, inside = byToken ? "variance" : "deviation" } = written;
  return JSON.stringify([over, center, scale, population, epsilon, inside]);
}
