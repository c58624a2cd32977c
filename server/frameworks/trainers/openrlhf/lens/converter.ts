import type { Converter } from "../../../lens/types.ts";
import { openrlhfDefaults } from "./flags.ts";
import { openrlhfPlaces } from "./places.ts";
import { convertOpenRlhf, openrlhfReason } from "./settings.ts";

export const openRlhfConverter: Converter = {
  defaults: openrlhfDefaults,
  convert: convertOpenRlhf,
  reasonOf: openrlhfReason,
  deciding: [
    "rollout.batch_size",
    "rollout.n_samples_per_prompt",
    "train.batch_size",
    "data.max_len",
    "data.prompt_max_len",
    "rollout.max_new_tokens",
  ],
  places: openrlhfPlaces,
};
