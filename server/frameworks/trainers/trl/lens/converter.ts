import type { Converter } from "../../../lens/types.ts";
import { trlDefaults, trlPreferenceDefaults, trlReason } from "./defaults.ts";
import { trlPlaces } from "./places.ts";
import { convertTrlPreference } from "./preference.ts";
import { convertTrl } from "./settings.ts";

export const trlConverter: Converter = {
  defaults: trlDefaults,
  convert: convertTrl,
  reasonOf: trlReason,
  deciding: ["per_device_train_batch_size", "num_generations", "max_completion_length"],
  places: trlPlaces,
};

/** Of a configuration of DPO. */
export const trlPreferenceConverter: Converter = {
  ...trlConverter,
  defaults: trlPreferenceDefaults,
  convert: convertTrlPreference,
  tree: "dpo",
};
