/** A config as a project for verl's PPO trainer. */
import { join } from "node:path";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { nested } from "../../../lens/settings.ts";
import { flat } from "../../../text/values.ts";
import type { Exporter, ExportRequest, Needs } from "../../../lens/exporter.ts";
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
import {
  drawnRows,
  evaluated,
  longestPrompt,
  missingRows,
  type Drawn,
  type Rows,
} from "../../../carried/rows.ts";
import { criticModel, policyModel } from "../lens/writtenCritic.ts";
import { literal } from "../../../carried/reward/literal.ts";
import { actor, inProject, model as modelSection, rollout as rolloutSection } from "../lens/keys.ts";
import { verlPlan, type VerlPlan } from "../lens/plan.ts";
import { rewardPlan, type RewardPlan } from "./rewardFile.ts";
import { rowOf, type Split } from "./rows.ts";
import { longestDrawn, managerText, serviceSettings, verlService, type VerlService } from "./service.ts";

const release = "verl 0.9.1";

export const verlExporter: Exporter = {
  engine: "verl",
  release,
  async write(request) {
    const { config, folder, version } = request;
    const plan = verlPlan(config);
    const rows = await drawnRows(config, plan.stage);
    const reward = rewardPlan(config, plan, rows.messages, version);
    const without = [...plan.missing, ...reward.missing, ...missingRows(rows, "verl")];
    const served = await verlService(config, folder, without, plan.settings);
    const model = modelOf(config);
    writeModel(join(folder, "model"), model, config);
    const chats = isChat(plan.stage.body.rollout.chat, model, folder);
    const settings = settingsOf({ config, plan, reward, rows, model, chats, served });
    const needs = { ...needsOf(settings, plan, reward, model), node: served.service !== undefined };
    return writeParts(folder, {
      release,
      texts: { ...textsOf(request, settings, reward), ...servedTexts(request, plan, chats, served) },
      tables: {
        "train.parquet": tableOf(rows.drawn, { plan, chats, split: "train" }),
        "val.parquet": tableOf(evaluated(config, rows), { plan, chats, split: "val" }),
      },
      reward,
      others: [...(served.service?.files ?? []), ...(model.written ? ["model"] : [])],
      missing: served.missing,
      needs,
    });
  },
};

interface RowsAsked {
  readonly plan: VerlPlan;
  readonly chats: boolean;
  readonly split: Split;
}

function tableOf(drawn: readonly Drawn[], { plan, chats, split }: RowsAsked): readonly JsonObject[] {
  const system = chats ? plan.stage.body.rollout.system : undefined;
  return drawn.map((one, index) => rowOf(one, { system, split, index }));
}

interface Known {
  readonly config: RunConfig;
  readonly plan: VerlPlan;
  readonly reward: RewardPlan;
  readonly rows: Rows;
  readonly model: ModelPlace;
  readonly chats: boolean;
  readonly served: VerlService;
}

/** With what is known once the tasks are drawn. What `engine.args` says comes last. */
function settingsOf({ config, plan, reward, rows, model, chats, served }: Known): JsonObject {
  const { body } = plan.stage;
  const draws = served.service !== undefined;
  const { max_tokens: response } = body.rollout;
  const room = config.model.base === "tiny" ? config.model.size.context - response : undefined;
  const prompt = longestPrompt(rows.drawn, body, room, draws ? longestDrawn(config) : 0);
  const path = model.written ? inProject("model") : model.path;
  const perEpoch = Math.max(1, Math.floor(rows.drawn.length / plan.batch.prompts));
  const args = flat(config.engine.args ?? {});
  return {
    [policyModel]: path,
    ...(plan.estimator === "gae" ? { [criticModel]: path } : {}),
    ...(chats ? {} : { [`${modelSection}.custom_chat_template`]: plainTemplate }),
    "data.train_files": inProject("train.parquet"),
    "data.val_files": inProject("val.parquet"),
    // Rows are in the order in which they were drawn.
    "data.shuffle": false,
    "data.max_prompt_length": prompt,
    "data.truncation": "left",
    ...(draws ? serviceSettings : {}),
    ...plan.settings,
    ...tokens(prompt + response, plan.estimator),
    ...(plan.estimator === "gdpo"
      ? {
          "algorithm.gdpo_reward_keys": [...reward.keys],
          "algorithm.gdpo_reward_weights": [...reward.weights],
        }
      : {}),
    "reward.custom_reward_function.path": inProject("reward.py"),
    "reward.custom_reward_function.name": "compute_score",
    "reward.reward_manager.source": "importlib",
    "reward.reward_manager.name": "WithTokens",
    "reward.reward_manager.module.path": inProject("manager.py"),
    "trainer.total_epochs": Math.ceil(plan.stage.steps / perEpoch),
    "trainer.default_local_dir": inProject("out/checkpoints"),
    ...Object.fromEntries(args),
  };
}

/** Tokens that a GPU reads at once by default, of the actor and of the critic: the longest rollout must fit. */
const [actorTokens, criticTokens] = [16_384, 32_768];

const tokens = (longest: number, estimator: string): JsonObject => ({
  ...(longest > actorTokens ? { [`${actor}.ppo_max_token_len_per_gpu`]: longest } : {}),
  ...(longest > criticTokens && estimator === "gae" ? { "critic.ppo_max_token_len_per_gpu": longest } : {}),
});

function textsOf(
  request: ExportRequest,
  settings: JsonObject,
  reward: RewardPlan,
): Readonly<Record<string, string>> {
  const { config, text } = request;
  return {
    "config.yaml": settingsYaml(
      { ...hydra, ...nested(Object.entries(settings)) },
      `${config.name} for ${release}: launch.sh starts it, and says where \`project\` is. Batch sizes count prompts.`,
    ),
    "reward.py": reward.text,
    "gradus_hook.py": shipped("gradus_hook.py"),
    [copyOf(config.file)]: text,
  };
}

/** What the service has of these texts. */
function servedTexts(
  request: ExportRequest,
  plan: VerlPlan,
  chats: boolean,
  served: VerlService,
): Readonly<Record<string, string>> {
  const manager = managerText(shipped("verlManager.py"), served);
  const launch = launchText("verlLaunch.sh", request);
  if (served.service === undefined) return { "manager.py": manager, "launch.sh": launch };
  const system = chats ? (plan.stage.body.rollout.system ?? null) : null;
  return {
    "curriculum.py": shipped("verlCurriculum.py").replace(
      "\nSYSTEM = None\n",
      `\nSYSTEM = ${literal(system)}\n`,
    ),
    "manager.py": manager,
    "launch.sh": launch.replace("\nservice=no\n", "\nservice=yes\n"),
  };
}

/** Hydra's own keys: verl's tree is found in its package, and nothing is written outside `out/`. */
const hydra: JsonObject = {
  hydra: {
    searchpath: ["pkg://verl.trainer.config"],
    run: { dir: "${project}/out/hydra" },
    output_subdir: null,
  },
  defaults: ["ppo_trainer", "_self_"],
  project: ".",
};

function needsOf(
  settings: JsonObject,
  { batch, estimator }: VerlPlan,
  reward: RewardPlan,
  model: ModelPlace,
): Omit<Needs, "node"> {
  const number = (key: string, usual: number): number => Number(settings[key] ?? usual);
  const gpus = number("trainer.n_gpus_per_node", 1) * number("trainer.nnodes", 1);
  const sizes = {
    "data.train_batch_size": number("data.train_batch_size", batch.prompts),
    "rollout.n": number(`${rolloutSection}.n`, batch.group),
    "actor.ppo_mini_batch_size": number(`${actor}.ppo_mini_batch_size`, batch.mini),
    "critic.ppo_mini_batch_size": number("critic.ppo_mini_batch_size", batch.mini),
  };
  const minis = [
    "actor.ppo_mini_batch_size",
    ...(estimator === "gae" ? ["critic.ppo_mini_batch_size"] : []),
  ] as const;
  const [prompts, group] = [sizes["data.train_batch_size"], sizes["rollout.n"]];
  return {
    python: ">=3.10,<3.13",
    packages: { verl: ">=0.9.1,<0.10", vllm: ">=0.18", ...reward.packages },
    model: model.written ? null : model.path,
    gpus,
    divides: [
      { whole: "data.train_batch_size * rollout.n", part: "GPUs", of: prompts * group, by: gpus },
      ...minis.flatMap((name) => [
        { whole: "data.train_batch_size", part: name, of: prompts, by: sizes[name as keyof typeof sizes] },
        {
          whole: `${name} * rollout.n`,
          part: "GPUs",
          of: sizes[name as keyof typeof sizes] * group,
          by: gpus,
        },
      ]),
    ],
  };
}
