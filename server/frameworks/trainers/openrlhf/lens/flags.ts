/** OpenRLHF's flags: defaults of 0.11, and how many prompts it reads of its data in each episode. */
import { resolve } from "node:path";
import { UserError } from "../../../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import { isParquet, parquetShape } from "../../../../lib/parquet.ts";
import { placeOfFile } from "../../../readers/verlFiles.ts";
import { pathFrom } from "../../../lens/paths.ts";
import type { Settings } from "../../../lens/settings.ts";

export const openrlhfDefaults: JsonObject = {
  "actor.adam.betas": [0.9, 0.95],
  "actor.adam.eps": 1e-8,
  "actor.adam.lr": 1e-6,
  "actor.adam.weight_decay": 0,
  "actor.eps_clip": 0.2,
  "actor.loss_agg_mode": "token-mean",
  "actor.lr_scheduler": "cosine_with_min_lr",
  "actor.lr_warmup_ratio": 0.03,
  "actor.max_norm": 1,
  "actor.min_lr_ratio": 0.1,
  "actor.policy_loss_type": "ppo",
  "algo.advantage.estimator": "gae",
  "algo.advantage.gamma": 1,
  "algo.advantage.is_correction_enable": false,
  "algo.advantage.is_correction_gating": "ratio",
  "algo.advantage.is_correction_level": "off",
  "algo.advantage.is_correction_mode": "mask",
  "algo.advantage.is_correction_threshold": [0.5, 5],
  "algo.advantage.is_correction_type": "tis",
  "algo.advantage.lambd": 1,
  "algo.advantage.no_std_norm": false,
  "algo.dynamic_filtering_enable": false,
  "algo.dynamic_filtering_range": [0, 1],
  "algo.kl.estimator": "k1",
  "algo.kl.horizon": 10000,
  "algo.kl.init_coef": 0.01,
  "algo.kl.unbiased_gradient": false,
  "algo.kl.use_loss": false,
  "critic.adam.betas": [0.9, 0.95],
  "critic.adam.eps": 1e-8,
  "critic.adam.lr": 9e-6,
  "critic.adam.weight_decay": 0,
  "critic.lr_scheduler": "cosine_with_min_lr",
  "critic.lr_warmup_ratio": 0.03,
  "critic.max_norm": 1,
  "critic.min_lr_ratio": 0.1,
  "critic.value_clip": 0.5,
  "data.input_key": "input",
  "data.max_len": 2048,
  "ds.lora.alpha": 16,
  "ds.lora.dropout": 0,
  "ds.lora.rank": 0,
  "reward.clip_range": [-10, 10],
  "reward.overlong_penalty_factor": 1,
  "rollout.batch_size": 1024,
  "rollout.n_samples_per_prompt": 1,
  "rollout.temperature": 1,
  "rollout.top_p": 1,
  "train.batch_size": 128,
  "train.max_epochs": 1,
  "train.num_episodes": 1,
  "train.seed": 42,
};

interface Samples {
  /** undefined: nothing says it. */
  readonly samples: number | undefined;
  /** What says it: the file's own rows, or the most that are read of it. */
  readonly from: "rows" | "most";
}

export function samplesOf(settings: Settings): Samples {
  const most = settings.number("data.max_samples");
  const rows = rowsOf(settings);
  return rows === undefined || (most ?? rows) < rows
    ? { samples: most, from: "most" }
    : { samples: rows, from: "rows" };
}

/** Of one Parquet file, which has their number at its end; a file of lines would be read as a whole. */
function rowsOf(settings: Settings): number | undefined {
  const name = settings.text("data.prompt_dataset");
  if (name === undefined || !isParquet(name)) return undefined;
  const place = placeOfFile(resolve(settings.file), pathFrom(settings.file, name));
  if (place === undefined) return undefined;
  try {
    return parquetShape(place).rows;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
