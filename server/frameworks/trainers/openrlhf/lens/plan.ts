/** A config as OpenRLHF's flags: no model is opened and no task is drawn. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { StageConfig } from "../../../../core/config/stageConfig.ts";
import { flat } from "../../../text/values.ts";
import { blocks } from "../../../lens/blocks.ts";
import type { Missing } from "../../../lens/exporter.ts";
import { trainedStage } from "../../../lens/stage.ts";
import { admission } from "./admission.ts";
import { writeOpenRlhfAdvantage } from "./advantage.ts";
import { batchOf, type Batch } from "./batch.ts";
import { correction } from "./writtenCorrection.ts";
import { critic } from "./critic.ts";
import { OpenRlhfDraft } from "./draft.ts";
import { placement } from "./gpus.ts";
import { model } from "./model.ts";
import { objective } from "./writtenObjective.ts";
import { kl, mask } from "./writtenPenalties.ts";
import { sampling } from "./sampling.ts";
import { saving } from "./saving.ts";
import { update } from "./update.ts";

export interface OpenRlhfPlan {
  /** Flags by their dotted names, in the order in which they are written, without paths. */
  readonly settings: JsonObject;
  readonly missing: readonly Missing[];
  /** The one that OpenRLHF trains. */
  readonly stage: StageConfig;
  readonly batch: Batch;
  readonly estimator: string;
}

/** @throws UserError where there is nothing to train by rewards */
export function openRlhfPlan(config: RunConfig): OpenRlhfPlan {
  const draft = new OpenRlhfDraft();
  const stage = trainedStage(config, draft.engine);
  const { body } = stage;
  const batch = batchOf(stage, draft);
  sampling(body, draft);
  admission(body, draft);
  const estimator = writeOpenRlhfAdvantage(body, draft);
  const chargesTokens = body.kl.some(({ place }) => place === "reward");
  objective(body, batch, estimator === "gae" || estimator === "reinforce" || chargesTokens, draft);
  kl(body, batch, draft);
  mask(body, draft);
  correction(body, draft);
  update(body, batch, draft);
  const known = critic(config, body, batch, draft);
  model(config, estimator, draft);
  saving(config, draft);
  blocks(config, stage, draft, { except: new Set([...known, "curriculum.admission"]) });
  const args = new Map(flat(config.engine.args ?? {}));
  return {
    settings: { ...draft.settings, ...placement(args, batch), ...Object.fromEntries(args) },
    missing: draft.missing,
    stage,
    batch,
    estimator,
  };
}
