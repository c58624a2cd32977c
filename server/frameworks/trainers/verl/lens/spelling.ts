/** Keys as their frameworks' parsers spell them out, before any of them is looked up. */
import type { Json, JsonObject } from "../../../../../shared/lib/json.ts";
import { interpolated } from "../../../text/interpolation.ts";
import type { ConvertedFrom } from "../../../lens/types.ts";

type DottedSettings = ReadonlyMap<string, Json>;

/** The same settings under the names that the release reads, which `convert` asks for. */
export function spelledOut(
  framework: ConvertedFrom,
  written: DottedSettings,
  defaults: JsonObject = {},
): DottedSettings {
  if (framework === "trl") return new Map([...written].map(transformersFlag));
  return framework === "verl" ? earlierCorrection(withReferences(written, defaults)) : written;
}

/** HfArgumentParser accepts dashes for underscores, and `--no_x` for a switch that is on by default. */
function transformersFlag([key, value]: readonly [string, Json]): [string, Json] {
  const name = key.replaceAll("-", "_");
  const negated = value === true && name !== "no_cuda" ? /^no_(\w+)$/.exec(name)?.[1] : undefined;
  return negated === undefined ? [name, value] : [negated, false];
}

/** `${data.train_batch_size}` on a command line. What only the machine knows stays as it is. */
const withReferences = (written: DottedSettings, defaults: JsonObject): Map<string, Json> =>
  new Map(
    [...written].map(([key, value]) => [
      key,
      interpolated(value, key, (name) => written.get(name) ?? defaults[name]) ?? value,
    ]),
  );

const correction = "algorithm.rollout_correction";

/**
 * Truncated importance weights as verl wrote them before 0.6.1: `tis_imp_ratio_cap` of the actor, then
 * `algorithm.rollout_is` as a switch with a level and a threshold next to it.
 */
function earlierCorrection(written: Map<string, Json>): Map<string, Json> {
  const cap = written.get("actor_rollout_ref.actor.tis_imp_ratio_cap");
  const threshold = written.get("algorithm.rollout_is_threshold");
  const level = written.get("algorithm.rollout_is_level") ?? "token";
  const truncates = (written.get("algorithm.rollout_is_mode") ?? "truncate") === "truncate";
  if (written.get("algorithm.rollout_is") === true && typeof threshold === "number") {
    if (!truncates || (level !== "token" && level !== "sequence")) return written;
    for (const part of ["", "_threshold", "_level", "_mode"]) written.delete(`algorithm.rollout_is${part}`);
    written.set(`${correction}.rollout_is`, level).set(`${correction}.rollout_is_threshold`, threshold);
  } else if (typeof cap === "number" && cap > 0 && !written.has(`${correction}.rollout_is`)) {
    written.delete("actor_rollout_ref.actor.tis_imp_ratio_cap");
    written.set(`${correction}.rollout_is`, "token").set(`${correction}.rollout_is_threshold`, cap);
  }
  return written;
}
