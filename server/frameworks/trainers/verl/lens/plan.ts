/** A config as verl's settings: no model is opened and no task is drawn. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { StageBody } from "../../../../core/config/resolved.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { StageConfig } from "../../../../core/config/stageConfig.ts";
import { flat } from "../../../text/values.ts";
import { blocks } from "../../../lens/blocks.ts";
import type { Missing } from "../../../lens/exporter.ts";
import { spreadFilter } from "../../../lens/spreadFilter.ts";
import { trainedStage } from "../../../lens/stage.ts";
import { writeVerlAdvantage } from "./advantage.ts";
import { groupBatch, type Batch } from "../../../lens/groupBatch.ts";
import { critic } from "./writtenCritic.ts";
import { VerlDraft } from "./draft.ts";
import { actor, batchKeys } from "./keys.ts";
import { model } from "./model.ts";
import { writeVerlObjective } from "./objective.ts";
import { corrections, mask, writeVerlPenalties } from "./penalties.ts";
import { sampling } from "./sampling.ts";
import { saving, update } from "./update.ts";

export interface VerlPlan {
  /** Of config.yaml by dotted keys, in the order in which it is written, without paths. */
  readonly settings: JsonObject;
  readonly missing: readonly Missing[];
  /** The one that verl trains. */
  readonly stage: StageConfig;
  readonly batch: Batch;
  readonly estimator: string;
}

/** @throws UserError where there is nothing to train by rewards */
export function verlPlan(config: RunConfig): VerlPlan {
  const draft = new VerlDraft();
  const stage = trainedStage(config, draft.engine);
  const { body } = stage;
  const batch = groupBatch(stage, batchKeys, draft);
  sampling(body, draft);
  filter(body, draft);
  const estimator = writeVerlAdvantage(body, draft);
  writeVerlObjective(body, draft);
  writeVerlPenalties(body, estimator, draft);
  mask(body, draft);
  corrections(body, draft);
  update(body, batch, draft);
  const known = critic(config, body, batch, draft);
  model(config, estimator, draft);
  draft.set(`${actor}.use_dynamic_bsz`, true);
  saving(config, draft);
  blocks(config, stage, draft, { except: new Set([...known, "curriculum.admission"]) });
  return {
    settings: { ...draft.settings, ...Object.fromEntries(flat(config.engine.args ?? {})) },
    missing: draft.missing,
    stage,
    batch,
    estimator,
  };
}

/** DAPO's dynamic sampling. */
function filter(body: StageBody, draft: VerlDraft): void {
  if (!spreadFilter(body, draft)) return;
  draft.set("algorithm.filter_groups.enable", true);
  draft.set("algorithm.filter_groups.metric", "reward");
}
