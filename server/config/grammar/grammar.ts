/** Every key of a config: its form, what it says, and (in defaults.ts) what it is when nobody writes it. */
import { z } from "zod";
import { advantageFields } from "./advantageFields.ts";
import { schedulable } from "../../core/schedule.ts";
import { klDefaults, stageDefaults, taskDefaults, termDefaults } from "./defaults.ts";
import { learningRateSchedule } from "../../core/blocks/learningRate.ts";
import { modelFields, modelItem } from "./modelFields.ts";
import { memorySize } from "../build/memorySize.ts";
import { alwaysModels, refers } from "../../core/references.ts";
import { fraction, later, map, short, slot, value, whole } from "./fields.ts";
import { generateField } from "./generateGrammar.ts";
import type { Fields, Shape } from "./shape.ts";
import { stageFields } from "./stageFields.ts";
import { objectiveField } from "./objectiveFields.ts";
import { guidanceField } from "./guidanceGrammar.ts";
import { auxiliaryField, replayField } from "./replayGrammar.ts";
import {
  annealSchema,
  grammarSchema,
  perturbSchema,
  spansSchema,
  stepsSchema,
  termAttempts,
} from "../../core/blocks/rollout.ts";
import { klAggregate, klImportance, klRows, klWeight, adaptiveSchema } from "../../core/blocks/kl.ts";
import { klShown } from "../../core/blocks/klShown.ts";
import { routePlaces, routeWhen } from "../../core/blocks/routes.ts";

const taskItem: Shape = {
  kind: "slot",
  slot: "task",
  defaults: taskDefaults,
  own: {
    name: value(
      z.string().min(1),
      "The name that arms, reward terms and overrides call it by; default: its env, or its file's stem. Unique.",
    ),
    weight: value(
      schedulable(z.number().nonnegative()),
      "Share of the tasks drawn, relative to the others'; a sampler over arms ignores it.",
    ),
    generate: generateField,
  },
};

const termItem: Shape = {
  kind: "slot",
  slot: "reward",
  defaults: termDefaults,
  own: {
    weight: value(
      schedulable(z.number()),
      "Factor on the term before the combiner. 0: recorded but not rewarded.",
    ),
    tasks: value(z.array(refers({ to: "task" })), "Names of the tasks the term applies to; default: all."),
    attempts: value(
      termAttempts,
      "What it scores of an episode of several attempts (`rollout.shape`): the last; each, paid at its end; the best; all, summed; or the whole episode as one text. Default: `reward.attempts`.",
    ),
  },
};

const klItem: Shape = {
  kind: "map",
  defaults: klDefaults,
  fields: {
    model: value(
      refers({ to: "model", also: alwaysModels }),
      "The other model. `reference`: the policy as it enters the first rl stage.",
    ),
    direction: value(
      z.enum(["reverse", "forward"]),
      "reverse: KL(policy ‖ model); forward: KL(model ‖ policy).",
    ),
    estimator: slot("kl", "How the divergence is estimated from log-probs."),
    place: value(z.enum(["reward", "loss"]), "Subtracted from the reward per token, or added to the loss."),
    coefficient: value(
      z.union([...schedulable(z.number().nonnegative()).options, adaptiveSchema]).meta({ schedulable: true }),
      "Factor β on the divergence: a number, a schedule, or `{ use: adaptive, target, … }`.",
    ),
    mask: value(
      klRows,
      "Rollouts on which it acts: all, those that succeeded or failed (right, wrong), groups in which all, none or some did (all_right, all_wrong, mixed), or those that `route` sends to distillation (distilled).",
    ),
    shown: value(
      klShown,
      "What the other model is shown beside the prompt: a rollout of the group that succeeded, the task's solution or answer, a field; or `{ what, field, template }`. The entry acts where there is such a thing. Default: nothing.",
    ),
    turns: value(
      z.array(whole(0)).min(1),
      "The assistant's turns on which it acts, counted from 0; default: all.",
    ),
    weight: value(klWeight, "Factor on each token by how sure a model was."),
    importance_weighted: value(
      klImportance,
      "Multiplies by the ratio of now to behaviour, where rollouts are older than the policy (TRL: use_bias_correction_kl).",
    ),
    aggregate: value(klAggregate, "The normaliser: the objective's, or one of its own."),
  },
};

const routeItem: Shape = {
  kind: "map",
  fields: {
    when: {
      ...value(
        routeWhen,
        "What must hold, one condition or a list: right, wrong, all_right, all_wrong, mixed, sibling (another of the group succeeded), demonstration (the task has a solution), { field }, positive, negative, zero (its advantage), overlong, helped, own, replayed; { not } turns one round.",
      ),
      required: true,
    },
    to: {
      ...value(
        routePlaces,
        "policy: the objective; distil: KL entries with `mask: distilled`; pair: losses of `objective.also` with `of: pair`; mask: nothing, though it stays a row of the update; drop: nothing, as if it had not been drawn.",
      ),
      required: true,
    },
  },
};

/** The blocks that a stage may override. */
const body: Fields = {
  tasks: {
    shape: { kind: "named_list", item: taskItem, what: "task" },
    summary: "Where prompts come from: built-in environments (`env`) and files (`dataset`).",
  },
  curriculum: map(
    {
      arms: slot("arms", "Which sets of tasks the curriculum chooses between."),
      signal: slot("signal", "What a group of rollouts says about its arm."),
      estimator: slot("estimator", "How an arm's signals become one number."),
      sampler: slot("sampler", "How arms are drawn from their estimates."),
      start: slot("start", "Where the rollouts of a task begin."),
      admission: slot("admission", "Which groups reach training.", {
        refill: slot("refill", "How rejected groups are replaced within the step."),
      }),
      budget: slot("budget", "How many groups a step begins with, and how many rollouts each of them gets."),
    },
    "Which task comes next.",
  ),
  rollout: map(
    {
      prompts: value(whole(1), "Tasks (groups) per step."),
      group: value(whole(1), "Rollouts per task."),
      shape: slot(
        "episode_shape",
        "Whether a rollout is one response, or several attempts with something said between.",
      ),
      branch: slot("branching", "Whether some rollouts of a group leave others in their middle, and where."),
      max_tokens: value(whole(1), "Longest response, in tokens."),
      budget: value(
        schedulable(z.number().positive()),
        "Longest response while training, where it differs by stage or changes over steps: up to 1 a share of `max_tokens`, above 1 tokens. Never above `max_tokens`.",
      ),
      temperature: value(schedulable(z.number().min(0)), "Softmax temperature of sampling; 0 is greedy."),
      top_p: value(
        z.number().gt(0).max(1),
        "Nucleus: keep the likeliest tokens up to this probability; 1: all.",
      ),
      top_k: value(whole(0), "Keep the k likeliest tokens; 0: all."),
      min_p: value(fraction, "Keep tokens at least this fraction as likely as the likeliest; 0: all."),
      repetition_penalty: value(
        z.number().positive(),
        "Logits of tokens that prompt or response have are divided by it where positive, else multiplied; 1: none.",
      ),
      presence_penalty: value(
        z.number(),
        "Subtracted from the logits of tokens that the response has; 0: none.",
      ),
      frequency_penalty: value(
        z.number(),
        "Subtracted from a token's logit as often as the response has it; 0: none.",
      ),
      anneal: value(annealSchema, "The temperature falls with a token's place in the response."),
      perturb: value(
        perturbSchema,
        "β times the least of some heads' values of each word is added to the policy's logits: it writes what they find best.",
      ),
      steps: value(
        stepsSchema,
        "What ends a step of a response: a text, or { regex }. Rewards, values and advantages by step read the steps.",
      ),
      spans: value(
        spansSchema,
        "Spans of a response that are recorded by a name, which masks read: what { regex } finds, or what stands between { open, close }.",
      ),
      stop: value(z.array(z.string().min(1)), "Texts that end a response."),
      chat: value(
        z.union([z.boolean(), z.literal("auto")]),
        "Ask by the model's chat template, the prompt as the user's message; auto: where it has one.",
      ),
      system: value(z.string(), "The system message of a chat."),
      min_tokens: value(whole(0), "Tokens before which nothing ends a response; 0: none."),
      prefix: value(z.string(), "Text that every response begins with; it is given, and not trained on."),
      logit_bias: value(
        z.record(z.string(), z.number()),
        "Added to logits before the temperature: `{ token: value }`, a token's id or a text that is one token.",
      ),
      grammar: value(
        grammarSchema,
        "What a whole response (behind `prefix`) must be; other tokens never come.",
      ),
      lanes: value(
        whole(1),
        "Responses written at once: bounds memory, changes no result. Default: as many as fit.",
      ),
    },
    "How responses are generated.",
  ),
  guidance: guidanceField,
  reward: map(
    {
      terms: {
        shape: { kind: "named_map", item: termItem, what: "reward term" },
        summary: "Sources of reward by name; they stay separate until the advantage.",
      },
      attempts: value(
        termAttempts,
        "What terms score of an episode of several attempts (`rollout.shape`), where they do not say themselves.",
      ),
      combine: slot("combine", "How terms become one reward."),
      success: map(
        {
          terms: value(
            z.array(refers({ to: "term" })),
            "Terms that decide; the first that applies to the task counts. Default: all, in order.",
          ),
          at_least: value(z.number(), "A rollout succeeds when the deciding term is at least this."),
        },
        "What counts as solved: pass@k, success band and group fractions use it.",
      ),
      timeout: value(z.number().positive(), "Seconds a user reward may take for one rollout."),
    },
    "What a response is paid.",
  ),
  advantage: map(
    {
      baseline: slot("baseline", "What is subtracted from a rollout's reward."),
      scale: slot("scale", "What the difference is divided by."),
      ...advantageFields,
    },
    "From rewards to advantages.",
  ),
  objective: objectiveField,
  kl: {
    shape: { kind: "list", item: klItem, what: "KL entry" },
    summary: "Divergences from other models that are penalised.",
  },
  route: {
    shape: { kind: "list", item: routeItem, what: "route" },
    summary:
      "Which losses each rollout moves: the first rule whose conditions hold decides, and the objective takes what none fits.",
  },
  mask: {
    shape: { kind: "list", item: { kind: "slot", slot: "mask", own: {} }, what: "mask" },
    summary: "Which tokens train; default: those the model wrote.",
  },
  replay: replayField,
  auxiliary: auxiliaryField,
  update: map(
    {
      optimizer: slot("optimizer", "How gradients move the weights.", {
        schedule: value(
          learningRateSchedule,
          "Factor on `lr` over steps, after the warm-up: `constant`, `linear` or `cosine` (to 0 at the end), `inverse_sqrt`, `wsd` (stable, then a fall), one of them with a `floor`, or a schedule.",
        ),
      }),
      mini_batch: value(whole(1), "Rollouts per optimiser step; default: all of the step's."),
      epochs: value(whole(1), "Passes over each step's rollouts."),
      reset_every: value(
        whole(1),
        "Steps after which the optimiser begins afresh, its warm-up included; default: never within a stage.",
      ),
      micro_tokens: value(
        z.union([z.literal("auto"), whole(1)]),
        "Tokens per forward pass: bounds memory, changes no result.",
      ),
    },
    "How rollouts become optimiser steps.",
  ),
};

export const stageItem: Shape = {
  kind: "map",
  defaults: stageDefaults,
  fields: {
    ...stageFields,
    ...body,
  },
};

export const stageBlocks: readonly string[] = Object.keys(body);

/** Every top-level key but `extends`, which is gone once a config is read. */
export const grammar: Shape & { kind: "map" } = {
  kind: "map",
  fields: {
    extends: value(
      z.union([z.string(), z.array(z.string())]),
      "A preset by name, a path, or a list of them, left to right.",
    ),
    name: value(z.string().min(1), "The run's name; default: the file's stem."),
    seed: value(z.number().int(), "Seed of every random stream."),
    steps: value(whole(1), "Steps of the one rl stage there is without `stages`."),
    model: short("base", modelFields, "The policy that is trained; the same as `models.policy`."),
    models: {
      shape: { kind: "named_map", item: modelItem, what: "model" },
      summary:
        "Models beside the policy by name: frozen ones that score or generate, ones that train, copies.",
    },
    ...body,
    stages: {
      shape: { kind: "named_list", item: stageItem, what: "stage" },
      summary: "The run's parts in order; each may override any block.",
    },
    evaluation: map(
      {
        every: value(whole(1), "Steps between evaluations."),
        prompts: value(whole(1), "Held-out tasks measured."),
        pass_at: value(z.array(whole(1)).min(1), "The k of each pass@k."),
        samples: value(whole(1), "Answers drawn per task; default: the largest k."),
        temperature: value(z.number().positive(), "Sampling temperature of pass@k."),
        record: value(
          whole(0),
          "Answers of each evaluation kept as rollouts, half greedy and half drawn, of the same first tasks; 0: none.",
        ),
        matrix: value(
          z.union([
            z.boolean(),
            z.strictObject({ prompts: whole(1).describe("Held-out tasks of each stage.") }),
          ]),
          "As every stage ends, held-out tasks of all stages are measured: `eval/<stage>/pass@k`, which `gradus runs show` prints as a table. `{ prompts }`: how many tasks of each stage; default: `evaluation.prompts`.",
        ),
      },
      "Held-out tasks that training never draws.",
    ),
    checkpoint: map(
      {
        every: value(whole(1), "Steps between checkpoints."),
        every_seconds: value(z.number().positive(), "Seconds between checkpoints, whichever comes first."),
        keep: value(whole(1), "How many of the latest are kept."),
        best: value(
          z.strictObject({
            metric: refers({ to: "evaluation metric" }).describe(
              "A metric of evaluations, e.g. `eval/greedy`.",
            ),
            mode: z
              .enum(["max", "min"])
              .optional()
              .describe("Which way is better; default: what the metric's list says, else max."),
          }),
          "Keeps the checkpoint of the best evaluation beside the latest: `RUN@best`.",
        ),
      },
      "When the run saves itself.",
    ),
    scheduler: later("asynchronous scheduling", "Overlap of generation and training. Not in this version."),
    engine: map(
      {
        backend: value(
          z.enum(["auto", "native", "webgpu", "wasm"]),
          "What computes: the native TensorFlow library (CPU, or GPU with CUDA), WebGPU, WebAssembly, or the best there is.",
        ),
        threads: value(whole(1), "Threads of the backend; default: it decides."),
        memory: value(
          memorySize,
          "Most memory the run may take: bytes, or a size such as `8GiB`; default: four fifths of the machine's. Work is cut to fit; what cannot fit is refused before it starts.",
        ),
      },
      "What the run computes on.",
    ),
    sweep: later("sweeps over several runs", "Many runs of one config. Not in this version."),
    logging: later(
      "options of logging",
      "Nothing to choose: every run records everything. Not in this version.",
    ),
  },
};
