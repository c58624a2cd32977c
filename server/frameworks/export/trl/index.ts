/** A config as a project for TRL's GRPOTrainer. */
import { cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Document } from "yaml";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../core/config/runConfig.ts";
import { writeParquet } from "../../../lib/datasets/parquetWriter.ts";
import type { Exporter, ExportRequest, Missing, Needs } from "../exporter.ts";
import { copyOf } from "../project.ts";
import { missingText } from "../missingText.ts";
import { forPython, modelOf, put, shipped, writeModel, type ModelPlace } from "../files.ts";
import { serviceOf } from "./served.ts";
import { trlPlan, type TrlPlan } from "./plan.ts";
import { literal } from "../reward/literal.ts";
import { rewardPlan, type RewardPlan } from "./rewardFile.ts";
import { drawnRows, type Rows } from "../rows.ts";
import { rowOf } from "./rows.ts";

const release = "TRL 1.16";

export const trlExporter: Exporter = {
  engine: "trl",
  release,
  async write(request) {
    const { config, folder, version } = request;
    const plan = trlPlan(config);
    const rows = await drawnRows(config, plan.stage);
    const reward = rewardPlan(config, plan, rows.messages, version);
    const without = [...plan.missing, ...reward.missing, ...missingRows(rows)];
    const service = await serviceOf(config, folder, without);
    const missing = service?.missing ?? without;
    const model = modelOf(config);
    const needs = { ...needsOf(plan, reward, model), node: service !== undefined };
    const texts = textsOf(request, plan, reward, { model: model.path, service: service !== undefined });
    const files: Readonly<Record<string, string>> = {
      ...texts,
      "check.json": `${JSON.stringify(needs, null, 2)}\n`,
      "MISSING.md": missingText(release, missing),
    };
    for (const [name, text] of Object.entries(files)) put(join(folder, name), text);
    for (const { from, to } of reward.copies) {
      mkdirSync(dirname(join(folder, to)), { recursive: true });
      cpSync(from, join(folder, to));
    }
    await writeParquet(join(folder, "train.parquet"), async function* () {
      yield* rows.drawn.map(rowOf);
    });
    writeModel(join(folder, "model"), model, config);
    return {
      files: [
        ...Object.keys(files),
        ...new Set(reward.copies.map(({ to }) => to)),
        "train.parquet",
        ...(service?.files ?? []),
        ...(model.written ? ["model"] : []),
      ],
      missing,
      needs,
    };
  },
};

function textsOf(
  { config, text, python, launch }: ExportRequest,
  plan: TrlPlan,
  reward: RewardPlan,
  { model, service }: { readonly model: string; readonly service: boolean },
): Readonly<Record<string, string>> {
  const { chat, system } = plan.stage.body.rollout;
  const weights = reward.weights === undefined ? {} : { reward_weights: [...reward.weights] };
  return {
    "config.yaml": yamlOf({ model_name_or_path: model, ...plan.settings, ...weights }, config),
    "train.py": shipped("trlTrain.py")
      .replace("\nCHAT = None\n", `\nCHAT = ${chat === "auto" ? "None" : literal(chat)}\n`)
      .replace("\nSYSTEM = None\n", `\nSYSTEM = ${literal(system ?? null)}\n`)
      .replace("\nSERVICE = False\n", `\nSERVICE = ${literal(service)}\n`),
    "reward.py": reward.text,
    "launch.sh": shipped("projectLaunch.sh")
      .replace("LAUNCH}", `${launch ?? ""}}`)
      .replace("PYTHON}", `${python}}`),
    "gradus_hook.py": shipped("gradus_hook.py"),
    [copyOf(config.file)]: text,
  };
}

function yamlOf(settings: JsonObject, { name }: RunConfig): string {
  const document = new Document(settings);
  document.commentBefore = ` ${name}: what train.py gives TRL. Batch sizes are those of one process, which several share.`;
  return forPython(document.toString({ lineWidth: 0, flowCollectionPadding: true }));
}

function missingRows({ drawn, wanted, begun }: Rows): Missing[] {
  const short = {
    key: "steps",
    value: `${wanted} prompts`,
    reason: `train.parquet has ${drawn.length} prompts: after them TRL begins again with the first.`,
    changes: "nothing-trained",
  } as const;
  const begin = {
    key: "tasks",
    value: "begin",
    reason: "TRL cannot begin a response for the policy: it writes what its tasks would have begun with.",
    changes: "algorithm",
  } as const;
  return [...(drawn.length < wanted ? [short] : []), ...(begun ? [begin] : [])];
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
