/** A config as a project for SkyRL's trainer. */
import { join } from "node:path";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { nested } from "../../../lens/settings.ts";
import { flat } from "../../../text/values.ts";
import type { Exporter, ExportRequest } from "../../../lens/exporter.ts";
import {
  isChat,
  launchText,
  modelOf,
  plainTemplate,
  settingsYaml,
  shipped,
  writeModel,
  writeParts,
  type ModelPlace,
} from "../../../carried/files.ts";
import { copyOf } from "../../../carried/project.ts";
import { literal } from "../../../carried/reward/literal.ts";
import {
  drawnRows,
  evaluated,
  longestPrompt,
  missingRows,
  type Drawn,
  type Rows,
} from "../../../carried/rows.ts";
import { criticModel, policyModel } from "../lens/critic.ts";
import { algorithm, engine } from "../lens/keys.ts";
import { needsOf } from "../lens/needs.ts";
import { skyrlPlan, type SkyrlPlan } from "../lens/plan.ts";
import type { RewardPlan } from "../../../carried/reward/file.ts";
import { rewardPlan } from "./rewardFile.ts";
import { rowOf } from "./rows.ts";

const release = "SkyRL 0.3.0";

export const skyrlExporter: Exporter = {
  engine: "skyrl",
  release,
  async write(request) {
    const { config, folder, version } = request;
    const plan = skyrlPlan(config);
    const rows = await drawnRows(config, plan.stage);
    const reward = rewardPlan(config, plan, rows.messages, version);
    const missing = [...plan.missing, ...reward.missing, ...missingRows(rows, "SkyRL")];
    const model = modelOf(config);
    writeModel(join(folder, "model"), model, config);
    const chats = isChat(plan.stage.body.rollout.chat, model, folder);
    const settings = settingsOf({ config, plan, rows, model });
    return writeParts(folder, {
      release,
      texts: textsOf(request, settings, reward, chats),
      tables: {
        "train.parquet": tableOf(rows.drawn, plan, chats, "train"),
        "val.parquet": tableOf(evaluated(config, rows), plan, chats, "val"),
      },
      reward,
      others: model.written ? ["model"] : [],
      missing,
      needs: needsOf(settings, plan, reward, model),
    });
  },
};

function tableOf(
  drawn: readonly Drawn[],
  plan: SkyrlPlan,
  chats: boolean,
  split: "train" | "val",
): readonly JsonObject[] {
  const system = chats ? plan.stage.body.rollout.system : undefined;
  return drawn.map((one) => rowOf(one, { system, split }));
}

/** Of the folder that train.py is in. */
const inProject = (name: string): string => `\${project}/${name}`;

interface Known {
  readonly config: RunConfig;
  readonly plan: SkyrlPlan;
  readonly rows: Rows;
  readonly model: ModelPlace;
}

/** With what is known once the tasks are drawn. What `engine.args` says comes last. */
function settingsOf({ config, plan, rows, model }: Known): JsonObject {
  const { body } = plan.stage;
  const { max_tokens: response } = body.rollout;
  const room = config.model.base === "tiny" ? config.model.size.context - response : undefined;
  const path = model.written ? inProject("model") : model.path;
  return {
    [policyModel]: path,
    ...(plan.estimator === "gae" ? { [criticModel]: path } : {}),
    "data.train_data": [inProject("train.parquet")],
    "data.val_data": [inProject("val.parquet")],
    // Rows lie in memory.
    "data.dataloader.num_workers": 0,
    "environment.env_class": "gradus",
    // Longer ones would be dropped: none is.
    "trainer.max_prompt_length": longestPrompt(rows.drawn, body, room),
    ...plan.settings,
    ...onGpus,
    "trainer.epochs": epochsOf(plan, rows),
    "trainer.ckpt_path": inProject("out/checkpoints"),
    "trainer.export_path": inProject("out/exports"),
    "trainer.log_path": inProject("out/logs"),
    ...(config.model.adapter === undefined ? {} : loraFolder),
    ...Object.fromEntries(flat(config.engine.args ?? {})),
  };
}

/** All models and the engines share the policy's GPUs, as SkyRL asks where they are in one place. */
const policyGpus = "${trainer.placement.policy_num_gpus_per_node}";
const onGpus: JsonObject = {
  "trainer.placement.ref_num_gpus_per_node": policyGpus,
  "trainer.placement.critic_num_gpus_per_node": policyGpus,
  [`${engine}.num_engines`]: policyGpus,
};
const loraFolder: JsonObject = { "trainer.policy.model.lora.lora_sync_path": inProject("out/lora") };

/** Batches that a step of dynamic sampling takes at most, as SkyRL has it. */
const mostBatches = 30;

/** Enough rounds over the rows that all steps are made: `max_training_steps` ends the training. */
function epochsOf({ batch, stage, settings }: SkyrlPlan, { drawn }: Rows): number {
  const perEpoch = Math.max(1, Math.floor(drawn.length / batch.prompts));
  const filters = settings[`${algorithm}.dynamic_sampling.type`] !== undefined;
  return Math.ceil((stage.steps * (filters ? mostBatches : 1)) / perEpoch);
}

function textsOf(
  request: ExportRequest,
  settings: JsonObject,
  reward: RewardPlan,
  chats: boolean,
): Readonly<Record<string, string>> {
  const { config, text } = request;
  return {
    "config.yaml": settingsYaml(
      { project: ".", ...nested(Object.entries(settings)) },
      `${config.name} for ${release}: what train.py gives it, which says where \`project\` is. Batch sizes count prompts.`,
    ),
    "train.py": shipped("skyrlTrain.py"),
    "experiment.py": shipped("skyrlExperiment.py").replace(
      "\nCHAT_TEMPLATE = None\n",
      `\nCHAT_TEMPLATE = ${chats ? "None" : literal(plainTemplate)}\n`,
    ),
    "reward.py": reward.text,
    "launch.sh": launchText("skyrlLaunch.sh", request),
    "gradus_hook.py": shipped("gradus_hook.py"),
    [copyOf(config.file)]: text,
  };
}
