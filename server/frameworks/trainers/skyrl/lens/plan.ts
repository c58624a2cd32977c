/** A config as SkyRL's settings: no model is opened and no task is drawn. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { StageConfig } from "../../../../core/config/stageConfig.ts";
import { flat } from "../../../text/values.ts";
import { blocks } from "../../../lens/blocks.ts";
import type { Missing } from "../../../lens/exporter.ts";
import { spreadFilter } from "../../../lens/spreadFilter.ts";
import { trainedStage } from "../../../lens/stage.ts";
import { writeSkyrlAdvantage } from "./advantage.ts";
import { groupBatch, type Batch } from "../../../lens/groupBatch.ts";
import { corrections } from "./writtenCorrection.ts";
import { critic } from "./critic.ts";
import { SkyrlDraft } from "./draft.ts";
import { algorithm, batchKeys } from "./keys.ts";
import { model } from "./model.ts";
import { writeSkyrlObjective } from "./objective.ts";
import { mask, writeSkyrlPenalties } from "./penalties.ts";
import { sampling } from "./sampling.ts";
import { saving, update } from "./update.ts";

export interface SkyrlPlan {
  /** Of config.yaml by dotted keys, in the order in which it is written, without paths. */
  readonly settings: JsonObject;
  readonly missing: readonly Missing[];
  /** The one that SkyRL trains. */
  readonly stage: StageConfig;
  readonly batch: Batch;
  readonly estimator: string;
}

/** @throws UserError where there is nothing to train by rewards */
export function skyrlPlan(config: RunConfig): SkyrlPlan {
  const draft = new SkyrlDraft();
  const stage = trainedStage(config, draft.engine);
  const { body } = stage;
  const batch = groupBatch(stage, batchKeys, draft);
  sampling(body, draft);
  // DAPO's dynamic sampling.
  if (spreadFilter(body, draft)) draft.set(`${algorithm}.dynamic_sampling.type`, "filter");
  const estimator = writeSkyrlAdvantage(body, draft);
  writeSkyrlObjective(body, batch, draft);
  writeSkyrlPenalties(body, draft);
  mask(body, draft);
  corrections(body, draft);
  update(body, batch, draft);
  const known = critic(config, body, batch, draft);
  model(config, estimator, draft);
  saving(config, body, draft);
  blocks(config, stage, draft, { except: new Set([...known, "curriculum.admission"]) });
  return {
    settings: { ...draft.settings, ...Object.fromEntries(flat(config.engine.args ?? {})) },
    missing: draft.missing,
    stage,
    batch,
    estimator,
  };
}
