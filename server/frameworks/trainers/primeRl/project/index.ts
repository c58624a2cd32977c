/** A config as a project for prime-rl, with an environment of verifiers. */
import { join } from "node:path";
import type { JsonObject } from "../../../../../shared/lib/json.ts";
import type { RunConfig } from "../../../../core/config/runConfig.ts";
import { primeRlRelease } from "../lens/defaults.ts";
import { flat } from "../../../text/values.ts";
import type { Exporter, ExportRequest, Needs } from "../../../lens/exporter.ts";
import {
  isChat,
  launchText,
  modelOf,
  plainTemplate,
  shipped,
  writeModel,
  writeParts,
  type ModelPlace,
} from "../../../carried/files.ts";
import { copyOf } from "../../../carried/project.ts";
import { literal } from "../../../carried/reward/literal.ts";
import type { RewardPlan } from "../../../carried/reward/file.ts";
import {
  drawnRows,
  evaluated,
  longestPrompt,
  missingRows,
  type Drawn,
  type Rows,
} from "../../../carried/rows.ts";
import { serviceOf } from "../../../carried/service/served.ts";
import { heldOut, source } from "../lens/keys.ts";
import { primeRlPlan, type PrimePlan } from "../lens/plan.ts";
import { rewardPlan } from "./rewardFile.ts";
import { tomlText, treeOf } from "./toml.ts";

/** Choices that prime-rl alone has no counterpart for, and the service has. */
const draws: ReadonlySet<string> = new Set(["curriculum.sampler"]);

const serviceLine = (keys: string): string =>
  `curriculum.py starts service/, which does ${keys}. Without Node, GRADUS_SERVICE=off trains on train.jsonl: prompts in the order of the first probabilities, and no reward that it would score.`;

export const primeRlExporter: Exporter = {
  engine: "prime-rl",
  release: primeRlRelease,
  async write(request) {
    const { config, folder, version } = request;
    const plan = primeRlPlan(config);
    const rows = await drawnRows(config, plan.stage);
    const reward = rewardPlan(config, plan, rows.messages, version);
    const without = [...plan.missing, ...reward.missing, ...missingRows(rows, "prime-rl")];
    const service = await serviceOf(config, folder, { without, draws, line: serviceLine });
    const model = modelOf(config);
    writeModel(join(folder, "model"), model, config);
    const chats = isChat(plan.stage.body.rollout.chat, model, folder);
    const settings = settingsOf({ config, plan, rows, model, chats });
    const served = service !== undefined;
    return writeParts(folder, {
      release: primeRlRelease,
      texts: {
        ...textsOf(request, plan, settings, { chats, served }),
        "reward.py": reward.text,
        "train.jsonl": lines(rows.drawn),
        "val.jsonl": lines(evaluated(config, rows)),
      },
      tables: {},
      reward,
      others: [...(service?.files ?? []), ...(model.written ? ["model"] : [])],
      missing: service?.missing ?? without,
      needs: needsOf(settings, reward, model, served),
    });
  },
};

/** The fields that rewards read, and whom the curriculum drew the task for. */
const lines = (drawn: readonly Drawn[]): string =>
  drawn
    .map(({ task, arm }) => {
      const { id, prompt, answer = null, source: from, data } = task;
      return `${JSON.stringify({ id, prompt, answer, source: from, arm, data })}\n`;
    })
    .join("");

interface Known {
  readonly config: RunConfig;
  readonly plan: PrimePlan;
  readonly rows: Rows;
  readonly model: ModelPlace;
  readonly chats: boolean;
}

/** The tasks of gradus_tasks.py, answered at once by the model itself. */
const environment = (key: string, name: string, split: JsonObject): JsonObject => ({
  [`${key}.name`]: name,
  [`${key}.env.taskset.id`]: "gradus_tasks",
  ...split,
  [`${key}.env.agent.harness.id`]: "null",
  [`${key}.env.agent.runtime.type`]: "subprocess",
});

/** With what is known once the tasks are drawn. What `engine.args` says comes last. */
function settingsOf({ config, plan, rows, model, chats }: Known): JsonObject {
  const { body } = plan.stage;
  const { max_tokens: response } = body.rollout;
  const room = config.model.base === "tiny" ? config.model.size.context - response : undefined;
  return {
    // The run's folder is `output_dir`/`run.dir`.
    output_dir: ".",
    "run.name": config.name,
    "run.dir": "out",
    "model.name": model.path,
    // A model's own template, as Gradus renders it.
    "orchestrator.renderer.name": "default",
    // Evaluations are rendered by vLLM, the rest by the environment.
    ...(chats
      ? {}
      : { "tokenizer.chat_template": plainTemplate, "orchestrator.renderer.chat_template": plainTemplate }),
    "deployment.num_train_gpus": 1,
    "deployment.num_infer_gpus": 1,
    // That it is there starts vLLM.
    inference: {},
    seq_len: Math.max(shortest, longestPrompt(rows.drawn, body, room) + response),
    ...plan.settings,
    ...environment(source, "train", {}),
    "orchestrator.eval.sampling.max_completion_tokens": response,
    ...environment(heldOut, "held_out", { [`${heldOut}.env.taskset.split`]: "val" }),
    ...Object.fromEntries(flat(config.engine.args ?? {})),
  };
}

/** prime-rl's own length of what it packs sequences into. */
const shortest = 2048;

interface Ways {
  readonly chats: boolean;
  /** Whether service/ is there. */
  readonly served: boolean;
}

function textsOf(
  request: ExportRequest,
  plan: PrimePlan,
  settings: JsonObject,
  { chats, served }: Ways,
): Readonly<Record<string, string>> {
  const { config, text } = request;
  const { system } = plan.stage.body.rollout;
  const [batch, group] = ["batch_size", "group_size"].map((key) => Number(settings[`orchestrator.${key}`]));
  return {
    "rl.toml": tomlText(
      treeOf(settings),
      `${config.name} for ${primeRlRelease}: launch.sh starts it. batch_size counts rollouts.`,
    ),
    "gradus_tasks.py": shipped("primeTasks.py")
      .replace("\nSYSTEM = None\n", `\nSYSTEM = ${literal((chats ? system : undefined) ?? null)}\n`)
      .replace("\nSERVICE = False\n", `\nSERVICE = ${literal(served)}\n`),
    "curriculum.py": shipped("primeCurriculum.py")
      .replace("\nPROMPTS = 0\n", `\nPROMPTS = ${batch! / group!}\n`)
      .replace(
        "\nFILTERED = False\n",
        `\nFILTERED = ${literal(settings["orchestrator.train.filter_zero_advantages"] ?? true)}\n`,
      ),
    ...(plan.own.loss ? { "gradus_loss.py": shipped("primeLoss.py") } : {}),
    ...(plan.own.algorithm ? { "gradus_algorithm.py": shipped("primeAlgorithm.py") } : {}),
    "launch.sh": launchText("primeLaunch.sh", request),
    [copyOf(config.file)]: text,
  };
}

function needsOf(settings: JsonObject, reward: RewardPlan, model: ModelPlace, node: boolean): Needs {
  const number = (key: string): number => Number(settings[key]);
  const [batch, group] = [number("orchestrator.batch_size"), number("orchestrator.group_size")];
  return {
    python: ">=3.12,<3.13",
    packages: { "prime-rl": ">=0.8,<0.9", verifiers: ">=0.3.1.dev59", vllm: ">=0.26", ...reward.packages },
    model: model.written ? null : model.path,
    gpus: number("deployment.num_train_gpus") + number("deployment.num_infer_gpus"),
    node,
    divides: [{ whole: "orchestrator.batch_size", part: "orchestrator.group_size", of: batch, by: group }],
  };
}
