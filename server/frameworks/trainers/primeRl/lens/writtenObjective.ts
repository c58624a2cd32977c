/** Losses: prime-rl's own, and those that it takes from gradus_loss.py. The mirror image of `convert/primeRl/loss.ts`. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import type { KlConfig, StageBody } from "../../../../core/config/resolved.ts";
import { nameOf, type Chosen } from "../../../lens/exportDraft.ts";
import type { PrimeDraft } from "./draft.ts";
import { algorithm, loss as section } from "./keys.ts";

type ObjectiveBlock = StageBody["objective"];
type Params = Chosen["params"];

/** No loss here caps the ratio so; beyond these a cap only keeps numbers finite. */
const [finiteRatio, finiteLog] = [1000, 10];

interface Loss {
  /** Of gradus_loss.py; undefined: prime-rl's own. */
  readonly own?: string;
  readonly settings: JsonObject;
}

const number = (params: Params, key: string): number | undefined => {
  const value = params[key];
  return typeof value === "number" ? value : undefined;
};
/** Parameters that are no null. */
const given = (params: Params, keys: readonly string[]): JsonObject =>
  Object.fromEntries(
    keys.flatMap((key): [string, Json][] => {
      const value = params[key];
      return typeof value === "number" || typeof value === "string" || typeof value === "boolean"
        ? [[key, value]]
        : [];
    }),
  );

const losses: Readonly<Record<string, (params: Params, draft: PrimeDraft) => Loss>> = {
  dppo_tv(params, draft) {
    const cap = params["cap"];
    if (typeof cap === "number")
      draft.miss(
        "objective.cap",
        cap,
        "prime-rl's loss has no cap on the ratio.",
        cap >= finiteRatio ? "guard" : "algorithm",
      );
    unit(params, draft);
    return {
      settings: {
        dppo_mask_low: number(params, "low") ?? 0.2,
        dppo_mask_high: number(params, "high") ?? 0.2,
      },
    };
  },
  clipped: (params) => ({
    own: "clipped",
    settings: given(params, ["low", "high", "dual", "delta", "ratio"]),
  }),
  reinforce: () => ({ own: "reinforce", settings: {} }),
  cispo: (params) => ({
    own: "cispo",
    settings: given(params, ["low", "high", "one_sided", "ratio"]),
  }),
  sapo: (params) => ({ own: "sapo", settings: given(params, ["tau_pos", "tau_neg", "ratio"]) }),
  dppo_kl(params, draft) {
    unit(params, draft);
    return { own: "dppo_kl", settings: given(params, ["low", "high", "cap"]) };
  },
};

/** Both forms of DPPO are by token. */
function unit(params: Params, draft: PrimeDraft): void {
  const ratio = params["ratio"] ?? "token";
  if (ratio !== "token") draft.miss("objective.ratio", ratio, "This loss is by token for prime-rl.");
}

export function objective(
  { objective: block, kl, rollout }: StageBody,
  draft: PrimeDraft,
): { readonly own: boolean } {
  const name = nameOf(block.loss);
  const found = losses[name];
  if (found === undefined)
    draft.miss("objective", name, "There is no such loss for prime-rl: the clipped one trains instead.");
  const { own, settings } = found?.(block.loss.params, draft) ?? {
    own: "clipped",
    settings: { low: 0.2, high: 0.2 },
  };
  const taus = {
    adv_tau: draft.constant("objective.factor", block.factor),
    kl_tau: sampled(kl, draft),
  };
  draft.set(`${section}.type`, own === undefined ? "default" : "custom");
  if (own === undefined)
    for (const [key, value] of Object.entries({ ...settings, ...taus }))
      draft.set(`${section}.${key}`, value);
  else {
    draft.set(`${section}.import_path`, `gradus_loss.${own}`);
    draft.set(`${section}.kwargs`, { ...settings, ...taus });
  }
  anchor(block.loss.params, draft);
  aggregate(block, rollout.max_tokens, draft);
  others(block, draft);
  return { own: own !== undefined };
}

function anchor(params: Params, draft: PrimeDraft): void {
  const { anchor: to = "behaviour", clamp_log_ratio: clamp = null } = params;
  // The policy before the one update of a step is the one that generated.
  if (to !== "behaviour" && to !== "proximal" && to !== "sampled")
    draft.miss("objective.anchor", to, "prime-rl's ratio is to the policy that generated.");
  if (clamp === null) return;
  const { low, high } = typeof clamp === "number" ? { low: -clamp, high: clamp } : Object(clamp);
  const only = Math.min(-Number(low ?? -finiteLog), Number(high ?? finiteLog));
  draft.miss(
    "objective.clamp_log_ratio",
    clamp,
    "prime-rl does not bound the log-ratio.",
    only >= finiteLog ? "guard" : "algorithm",
  );
}

/** Of gradus_algorithm.py; the mean over tokens is prime-rl's own. */
const aggregates: ReadonlySet<string> = new Set([
  "token_sum",
  "sequence_mean",
  "sequence_sum",
  "sequence_sum_norm",
]);

function aggregate({ aggregate: asked }: ObjectiveBlock, tokens: number, draft: PrimeDraft): void {
  const name = nameOf(asked);
  if (name === "token_mean") return;
  if (!aggregates.has(name))
    return draft.miss("objective.aggregate", name, "The mean is taken over all tokens of the step.");
  draft.set(`${algorithm}.aggregate`, name);
  if (name === "sequence_sum_norm")
    draft.set(`${algorithm}.budget`, number(asked.params, "budget") ?? tokens);
}

function others(block: ObjectiveBlock, draft: PrimeDraft): void {
  for (const one of block.correction)
    draft.miss(
      "objective.correction",
      nameOf(one),
      "prime-rl corrects by the ratio of its loss alone: this one is left out.",
    );
  for (const { loss } of block.also)
    draft.miss("objective.also", nameOf(loss), "prime-rl has one loss: this one is left out.");
  if (block.value !== undefined)
    draft.miss("objective.value", nameOf(block.value.loss), "prime-rl trains no critic.");
  const { entropy } = block;
  if (entropy !== 0) draft.miss("objective.entropy", entropy, "prime-rl has no entropy bonus.");
}

/** The one divergence that it has: the squared log-ratio to what generated, which is twice k2. */
function sampled(entries: readonly KlConfig[], draft: PrimeDraft): number {
  let tau = 0;
  for (const [at, entry] of entries.entries()) {
    if (isSampled(entry)) tau += draft.constant(`kl.${at}.coefficient`, entry.coefficient as number) / 2;
    else
      draft.miss(
        `kl.${at}`,
        `${entry.model}, ${nameOf(entry.estimator)}, in the ${entry.place}`,
        "prime-rl penalises k2 to the policy that generated, in the loss, and reads no reference: this one is left out.",
      );
  }
  return tau;
}

const isSampled = (entry: KlConfig): boolean =>
  entry.model === "behaviour" &&
  entry.place === "loss" &&
  entry.direction === "reverse" &&
  entry.mask === "all" &&
  entry.shown === undefined &&
  entry.turns === undefined &&
  entry.weight === undefined &&
  entry.importance_weighted === false &&
  (entry.aggregate === "objective" || entry.aggregate === "token_mean") &&
  nameOf(entry.estimator) === "k2" &&
  (entry.estimator.params["clamp"] ?? null) === null &&
  (entry.estimator.params["clamp_log_ratio"] ?? null) === null &&
  typeof entry.coefficient === "number";

export function mask({ mask: chosen }: StageBody, draft: PrimeDraft): void {
  for (const one of chosen)
    draft.miss(`mask.${nameOf(one)}`, nameOf(one), "prime-rl has no such mask: these tokens train.");
}
