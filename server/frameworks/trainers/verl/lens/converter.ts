import type { Converter } from "../../../lens/types.ts";
import { verlDefaults } from "./defaults.ts";
import { verlPlaces } from "./places.ts";
import { convertVerl, verlReason } from "./settings.ts";

export const verlConverter: Converter = {
  defaults: verlDefaults,
  convert: convertVerl,
  reasonOf: verlReason,
  deciding: [
    "actor_rollout_ref.model.path",
    "data.train_files",
    "data.train_batch_size",
    "actor_rollout_ref.rollout.n",
    "data.max_prompt_length",
    "data.max_response_length",
  ],
  places: verlPlaces,
};
