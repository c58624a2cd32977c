/** A config as a project for TRL's GRPOTrainer. */
import { join } from "node:path";
import type { Exporter, ExportRequest, Needs } from "../../../lens/exporter.ts";
import { copyOf } from "../../../carried/project.ts";
import {
  launchText,
  modelOf,
  settingsYaml,
  shipped,
  writeModel,
  writeParts,
  type ModelPlace,
} from "../../../carried/files.ts";
import { serviceOf } from "../../../carried/service/served.ts";
import { trlPlan, type TrlPlan } from "../lens/plan.ts";
import { literal } from "../../../carried/reward/literal.ts";
import { rewardPlan, type RewardPlan } from "./rewardFile.ts";
import { drawnRows, missingRows } from "../../../carried/rows.ts";
import { rowOf } from "./rows.ts";

const release = "TRL 1.16";

/** Choices that TRL alone has no counterpart for, and the service has. */
const draws: ReadonlySet<string> = new Set(["curriculum.admission", "curriculum.sampler"]);

const serviceLine = (keys: string): string =>
  `train.py starts service/, which does ${keys}. Without Node, GRADUS_SERVICE=off trains on train.parquet: prompts in the order of the first probabilities, no group rejected, and no reward that it would score.`;

export const trlExporter: Exporter = {
  engine: "trl",
  release,
  async write(request) {
    const { config, folder, version } = request;
    const plan = trlPlan(config);
    const rows = await drawnRows(config, plan.stage);
    const reward = rewardPlan(config, plan, rows.messages, version);
    const without = [...plan.missing, ...reward.missing, ...missingRows(rows, "TRL")];
    const service = await serviceOf(config, folder, { without, draws, line: serviceLine });
    const missing = service?.missing ?? without;
    const model = modelOf(config);
    const needs = { ...needsOf(plan, reward, model), node: service !== undefined };
    const texts = textsOf(request, plan, reward, { model: model.path, service: service !== undefined });
    writeModel(join(folder, "model"), model, config);
    return writeParts(folder, {
      release,
      texts,
      tables: { "train.parquet": rows.drawn.map(rowOf) },
      reward,
      others: [...(service?.files ?? []), ...(model.written ? ["model"] : [])],
      missing,
      needs,
    });
  },
};

function textsOf(
  request: ExportRequest,
  plan: TrlPlan,
  reward: RewardPlan,
  { model, service }: { readonly model: string; readonly service: boolean },
): Readonly<Record<string, string>> {
  const { config, text } = request;
  const { chat, system } = plan.stage.body.rollout;
  const weights = reward.weights === undefined ? {} : { reward_weights: [...reward.weights] };
  return {
    "config.yaml": settingsYaml(
      { model_name_or_path: model, ...plan.settings, ...weights },
      `${config.name}: what train.py gives TRL. Batch sizes are those of one process, which several share.`,
    ),
    "train.py": shipped("trlTrain.py")
      .replace("\nCHAT = None\n", `\nCHAT = ${chat === "auto" ? "None" : literal(chat)}\n`)
      .replace("\nSYSTEM = None\n", `\nSYSTEM = ${literal(system ?? null)}\n`)
      .replace("\nSERVICE = False\n", `\nSERVICE = ${literal(service)}\n`),
    "reward.py": reward.text,
    "launch.sh": launchText("projectLaunch.sh", request),
    "gradus_hook.py": shipped("gradus_hook.py"),
    [copyOf(config.file)]: text,
  };
}

function needsOf(
  { settings, stage, batch }: TrlPlan,
  reward: RewardPlan,
  model: ModelPlace,
): Omit<Needs, "node"> {
  const vllm = settings["use_vllm"] === true;
  const { group } = stage.body.rollout;
  return {
    python: ">=3.10",
    packages: {
      trl: ">=1.16,<2",
      ...(settings["use_peft"] === true ? { peft: ">=0.17" } : {}),
      ...(vllm ? { vllm: ">=0.10" } : {}),
      ...reward.packages,
    },
    model: model.written ? null : model.path,
    gpus: vllm ? 1 : 0,
    divides: [
      { whole: "generation_batch_size", part: "num_generations", of: batch.generated, by: group },
      {
        whole: "generation_batch_size",
        part: "per_device_train_batch_size * gradient_accumulation_steps",
        of: batch.generated,
        by: batch.mini,
      },
    ],
  };
}
