/** prime-rl's losses as Gradus' choices: its own, and those that an export of Gradus brings along. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { isObject } from "../../../text/values.ts";
import type { Settings } from "../../../lens/settings.ts";
import type { KlEntry } from "../../../lens/types.ts";

const section = "trainer.loss";

export interface PrimeLoss {
  readonly objective: JsonObject;
  readonly kl: readonly KlEntry[];
  /** Factor on advantages. */
  readonly factor: number;
}

/** Every loss of prime-rl compares with what vLLM drew from, and divides by the tokens of the step. */
const common: JsonObject = { anchor: "sampled", aggregate: "token_mean" };

/** Losses of gradus_loss.py with their own parameters. */
const brought: Readonly<Record<string, readonly string[]>> = {
  clipped: ["low", "high", "dual", "delta", "ratio"],
  reinforce: [],
  cispo: ["low", "high", "one_sided", "ratio"],
  sapo: ["tau_pos", "tau_neg", "ratio"],
  dppo_kl: ["low", "high", "cap"],
};
/** A bound that is not written is none. */
const unbounded: Readonly<Record<string, JsonObject>> = {
  cispo: { low: null, high: null },
  dppo_kl: { cap: null },
};

export function lossOf(settings: Settings): PrimeLoss {
  const type = settings.text(`${section}.type`) ?? "default";
  if (type === "custom") return custom(settings);
  if (type !== "default")
    settings.refuse(
      `${section}.type`,
      "Gradus has no loss whose bound holds on both sides of every token; dppo_tv is used instead",
    );
  return {
    objective: {
      use: "dppo_tv",
      low: settings.need(`${section}.dppo_mask_low`),
      high: settings.need(`${section}.dppo_mask_high`),
      cap: null,
      ...common,
    },
    ...taus(settings.need(`${section}.adv_tau`), settings.need(`${section}.kl_tau`)),
  };
}

/** kl_tau (log π − log π_sampled)² is twice kl_tau times k2. */
function taus(factor: number, tau: number): Pick<PrimeLoss, "kl" | "factor"> {
  const entry = { model: "behaviour", estimator: "k2", place: "loss", coefficient: 2 * tau };
  return { factor, kl: tau === 0 ? [] : [entry] };
}

function custom(settings: Settings): PrimeLoss {
  const path = settings.text(`${section}.import_path`) ?? "";
  const kwargs = settings.below(`${section}.kwargs`) ?? {};
  const name = /^gradus_loss\.(\w+)$/.exec(path)?.[1] ?? "";
  const keys = brought[name];
  if (keys === undefined) {
    settings.refuse(
      `${section}.import_path`,
      "a loss of your own: write `objective` after it; the policy gradient is a placeholder",
    );
    return { objective: { use: "reinforce", aggregate: "token_mean" }, kl: [], factor: 1 };
  }
  const number = (key: string, usual: number): number => {
    const value = kwargs[key];
    return typeof value === "number" ? value : usual;
  };
  const own = keys.flatMap((key): [string, Json][] => {
    const value = kwargs[key];
    return value === undefined || isObject(value) ? [] : [[key, value]];
  });
  return {
    objective: {
      use: name,
      ...unbounded[name],
      ...Object.fromEntries(own),
      ...(name === "reinforce" ? { aggregate: "token_mean" } : common),
    },
    ...taus(number("adv_tau", 1), number("kl_tau", 0)),
  };
}
