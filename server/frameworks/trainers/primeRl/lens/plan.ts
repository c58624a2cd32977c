/** A config as prime-rl's settings: no model is opened and no task is drawn. */
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import type { StageConfig } from "../../../../core/config/stageConfig.ts";
import { flat } from "../../../text/values.ts";
import { blocks } from "../../../lens/blocks.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import type { Missing } from "../../../lens/exporter.ts";
import { matrices } from "../../../carried/matrices.ts";
import { trainedStage } from "../../../lens/stage.ts";
import { writePrimeRlAdvantage } from "./advantage.ts";
import { batchOf, type Batch } from "./batch.ts";
import { PrimeDraft } from "./draft.ts";
import { algorithm, lora, source } from "./keys.ts";
import { mask, objective } from "./writtenObjective.ts";
import { sampling } from "./sampling.ts";
import { saving, update } from "./update.ts";

export interface PrimePlan {
  /** Of rl.toml by dotted keys, without paths and environments. */
  readonly settings: JsonObject;
  readonly missing: readonly Missing[];
  /** The one that prime-rl trains. */
  readonly stage: StageConfig;
  readonly batch: Batch;
  /** Whether the loss is in gradus_loss.py, and advantages or their normaliser in gradus_algorithm.py. */
  readonly own: { readonly loss: boolean; readonly algorithm: boolean };
}

/** @throws UserError where there is nothing to train by rewards */
export function primeRlPlan(config: RunConfig): PrimePlan {
  const draft = new PrimeDraft();
  const stage = trainedStage(config, draft.engine);
  const { body } = stage;
  const batch = batchOf(stage, draft);
  sampling(body, draft);
  gate(body, draft);
  writePrimeRlAdvantage(body, draft);
  const { own } = objective(body, draft);
  mask(body, draft);
  update(body, batch, draft);
  model(config, draft);
  saving(config, draft);
  blocks(config, stage, draft, { except: new Set(["curriculum.admission"]) });
  return {
    settings: { ...draft.settings, ...Object.fromEntries(flat(config.engine.args ?? {})) },
    missing: draft.missing,
    stage,
    batch,
    own: {
      loss: own,
      algorithm: Object.keys(draft.settings).some((key) => key.startsWith(`${algorithm}.`)),
    },
  };
}

/** float32 leaves so much between a reward and the mean of equal ones. */
const least = 1e-6;

/** A gate that rejects groups without advantages; prime-rl asks further tasks until a batch is full. */
function gate(
  { curriculum: { admission, refill }, advantage: { baseline } }: StageConfig["body"],
  draft: PrimeDraft,
): void {
  const name = nameOf(admission);
  if (name === "none") return;
  if (name !== "nonzero_variance")
    return draft.miss(
      "curriculum.admission",
      name,
      "prime-rl's gates reject groups by their advantages alone: none is rejected.",
    );
  draft.set(`${source}.curriculum.gates.nonzero_variance`, {
    type: "advantage_range",
    reject_min: -least,
    reject_max: least,
  });
  if (nameOf(baseline) === "none" || nameOf(baseline) === "constant")
    draft.miss(
      "curriculum.admission",
      name,
      "prime-rl's gate reads advantages, of which equal rewards have some without a mean as baseline: it rejects those whose reward is 0.",
    );
  if (nameOf(refill) === "none")
    draft.miss("curriculum.refill", "none", "prime-rl generates until a batch is full.");
}

function model({ model: { adapter, heads = [] } }: RunConfig, draft: PrimeDraft): void {
  for (const { name } of heads)
    draft.miss("model.value_heads", name, "prime-rl trains no head on the policy.");
  if (adapter === undefined) return;
  draft.set(`${lora}.rank`, adapter.rank);
  draft.set(`${lora}.alpha`, adapter.alpha);
  draft.set(`${lora}.dropout`, adapter.dropout);
  draft.set(
    `${lora}.target_modules`,
    adapter.targets.map((target) => matrices[target]),
  );
}
