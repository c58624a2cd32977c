/** A config as a project for OpenRLHF's PPO trainer on Ray. */
import { join } from "node:path";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { flat } from "../../../text/values.ts";
import type { Exporter, ExportRequest, Needs } from "../../../lens/exporter.ts";
import {
  isChat,
  launchText,
  modelOf,
  shipped,
  writeModel,
  writeParts,
  type ModelPlace,
} from "../../../carried/files.ts";
import { copyOf } from "../../../carried/project.ts";
import type { RewardPlan } from "../../../carried/reward/file.ts";
import {
  drawnRows,
  evaluated,
  longestPrompt,
  missingRows,
  type Drawn,
  type Rows,
} from "../../../carried/rows.ts";
import { gpusOf } from "../lens/gpus.ts";
import { inProject, withFlags } from "./launchText.ts";
import { openRlhfPlan, type OpenRlhfPlan } from "../lens/plan.ts";
import { rewardPlan } from "./rewardFile.ts";
import { labelKey, promptKey, rowOf, type Split } from "./rows.ts";

const release = "OpenRLHF 0.11.2";

export const openRlhfExporter: Exporter = {
  engine: "openrlhf",
  release,
  async write(request) {
    const { config, folder, version } = request;
    const plan = openRlhfPlan(config);
    const rows = await drawnRows(config, plan.stage);
    const held = evaluated(config, rows);
    const reward = rewardPlan(config, plan, rows.messages, version);
    const model = modelOf(config);
    writeModel(join(folder, "model"), model, config);
    const chats = isChat(plan.stage.body.rollout.chat, model, folder);
    const settings = settingsOf({ config, plan, rows, held, model, chats });
    return writeParts(folder, {
      release,
      texts: textsOf(request, settings, reward),
      tables: {
        "train.parquet": tableOf(rows.drawn, { plan, chats, split: "train" }),
        "val.parquet": tableOf(held, { plan, chats, split: "val" }),
      },
      reward,
      others: model.written ? ["model"] : [],
      missing: [...plan.missing, ...reward.missing, ...missingRows(rows, "OpenRLHF")],
      needs: needsOf(settings, plan, reward, model),
    });
  },
};

interface RowsAsked {
  readonly plan: OpenRlhfPlan;
  readonly chats: boolean;
  readonly split: Split;
}

function tableOf(drawn: readonly Drawn[], { plan, chats, split }: RowsAsked): readonly JsonObject[] {
  const { system } = plan.stage.body.rollout;
  return drawn.map((one, index) => rowOf(one, { chats, system, split, index }));
}

interface Known {
  readonly config: RunConfig;
  readonly plan: OpenRlhfPlan;
  readonly rows: Rows;
  readonly held: readonly Drawn[];
  readonly model: ModelPlace;
  readonly chats: boolean;
}

/** With what is known once the tasks are drawn. What `engine.args` says comes last. */
function settingsOf({ config, plan, rows, held, model, chats }: Known): JsonObject {
  const { body, steps } = plan.stage;
  const { max_tokens: response } = body.rollout;
  const room = config.model.base === "tiny" ? config.model.size.context - response : undefined;
  const perEpisode = Math.max(1, Math.floor(rows.drawn.length / plan.batch.prompts));
  return {
    "actor.model_name_or_path": model.written ? inProject("model") : model.path,
    "data.prompt_dataset": inProject("train.parquet"),
    "data.input_key": promptKey,
    "data.label_key": labelKey,
    "data.apply_chat_template": chats,
    "data.max_len": longestPrompt([...rows.drawn, ...held], body, room) + response,
    "eval.dataset": inProject("val.parquet"),
    "train.agent_func_path": inProject("agent.py"),
    ...plan.settings,
    // It bounds the held-out tasks, too.
    "data.max_samples": Math.max(rows.drawn.length, held.length),
    "train.num_episodes": Math.ceil(steps / perEpisode),
    "ckpt.path": inProject("out/checkpoints"),
    "ckpt.output_dir": inProject("out/model"),
    // Next to the rollouts, where an import looks for metrics.
    "logger.tensorboard_dir": inProject("out"),
    "logger.wandb.run_name": "gradus-rollouts",
    ...Object.fromEntries(flat(config.engine.args ?? {})),
  };
}

function textsOf(
  request: ExportRequest,
  settings: JsonObject,
  reward: RewardPlan,
): Readonly<Record<string, string>> {
  const { config, text } = request;
  return {
    "launch.sh": withFlags(launchText("openrlhfLaunch.sh", request), settings),
    "train.py": shipped("openrlhfTrain.py"),
    "agent.py": shipped("openrlhfAgent.py"),
    "reward.py": reward.text,
    "gradus_hook.py": shipped("gradus_hook.py"),
    [copyOf(config.file)]: text,
  };
}

function needsOf(
  settings: JsonObject,
  { batch }: OpenRlhfPlan,
  reward: RewardPlan,
  model: ModelPlace,
): Needs {
  const number = (key: string, usual: number): number => Number(settings[key] ?? usual);
  const actors = number("actor.num_nodes", 1) * number("actor.num_gpus_per_node", 1);
  const mini = number("train.batch_size", batch.mini);
  const whole =
    number("rollout.batch_size", batch.prompts) * number("rollout.n_samples_per_prompt", batch.group);
  const read = number("train.micro_batch_size", 1) * actors;
  return {
    python: ">=3.10",
    packages: { openrlhf: ">=0.11.2,<0.12", vllm: ">=0.29", ...reward.packages },
    model: model.written ? null : model.path,
    gpus: gpusOf(settings),
    node: false,
    divides: [
      {
        whole: "rollout.batch_size * rollout.n_samples_per_prompt",
        part: "train.batch_size",
        of: whole,
        by: mini,
      },
      { whole: "train.batch_size", part: "train.micro_batch_size * GPUs", of: mini, by: read },
    ],
  };
}
