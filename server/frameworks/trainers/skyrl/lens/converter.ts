import type { Converter } from "../../../lens/types.ts";
import { flatTable } from "../../../releases/flatTable.ts";
import { skyrlPlaces } from "./places.ts";
import { convertSkyrl, skyrlReason } from "./settings.ts";

export const skyrlConverter: Converter = {
  release: "SkyRL 0.3.0",
  get defaults() {
    return flatTable("skyrl").keys;
  },
  convert: convertSkyrl,
  reasonOf: skyrlReason,
  deciding: [
    "trainer.policy.model.path",
    "data.train_data",
    "trainer.train_batch_size",
    "generator.n_samples_per_prompt",
    "trainer.max_prompt_length",
    "generator.sampling_params.max_generate_length",
  ],
  places: skyrlPlaces,
};
