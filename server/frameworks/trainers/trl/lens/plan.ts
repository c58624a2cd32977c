/** A config as TRL's settings: no model is opened and no task is drawn. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { StageConfig } from "../../../../core/config/stageConfig.ts";
import type { Missing } from "../../../lens/exporter.ts";
import { trainedStage } from "../../../lens/stage.ts";
import { writeTrlAdvantage } from "./advantage.ts";
import { batchOf, type Batch } from "./batch.ts";
import { blocks } from "../../../lens/blocks.ts";
import { TrlDraft } from "./draft.ts";
import { model } from "./model.ts";
import { objective } from "./writtenObjective.ts";
import { correction, kl, mask } from "./writtenPenalties.ts";
import { sampling } from "./sampling.ts";
import { saving, update } from "./update.ts";

export interface TrlPlan {
  /** Of config.yaml, in the order in which it is written, without the model's path. */
  readonly settings: JsonObject;
  readonly missing: readonly Missing[];
  /** The one that TRL trains. */
  readonly stage: StageConfig;
  readonly batch: Batch;
  /** Factor on the weights of all reward terms. */
  readonly rewardFactor: number;
}

/** @throws UserError where TRL would refuse it, or there is nothing to train by rewards */
export function trlPlan(config: RunConfig): TrlPlan {
  const draft = new TrlDraft();
  const stage = trainedStage(config, "TRL's GRPO");
  const { body } = stage;
  const args = config.engine.args ?? {};
  const most = onDevice(args);
  const batch = batchOf(stage, most, draft);
  saving(config, batch, draft);
  model(config, draft);
  sampling(body, draft);
  const { factor } = writeTrlAdvantage(body, draft);
  objective(body, batch, draft);
  kl(body, draft);
  mask(body, draft);
  correction(body, args["use_vllm"] === true, draft);
  update(body, batch, draft);
  blocks(config, stage, draft);
  return {
    settings: { ...draft.settings, ...(most === undefined ? args : without(args, device)) },
    missing: draft.missing,
    stage,
    batch,
    rewardFactor: factor,
  };
}

const device = "per_device_train_batch_size";

/** Alone it bounds memory, and the batch stays the config's; with the keys that it multiplies it is a batch of the person's own. */
function onDevice(args: JsonObject): number | undefined {
  const { [device]: most } = args;
  const others = ["gradient_accumulation_steps", "steps_per_generation", "generation_batch_size"];
  return typeof most === "number" && most >= 1 && !others.some((key) => key in args) ? most : undefined;
}

const without = (args: JsonObject, key: string): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([name]) => name !== key));
