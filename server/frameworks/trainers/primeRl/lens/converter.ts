import type { Converter } from "../../../lens/types.ts";
import { primeRlDefaults, primeRlRelease } from "./defaults.ts";
import { convertPrimeRl, primeRlReason } from "./settings.ts";

export const primeRlConverter: Converter = {
  release: primeRlRelease,
  defaults: primeRlDefaults,
  convert: convertPrimeRl,
  reasonOf: primeRlReason,
  deciding: ["model.name", "orchestrator.batch_size", "orchestrator.group_size"],
  // Where a setting of TOML is written is not kept.
  places: [],
};
