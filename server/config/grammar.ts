/** Every key of a config: its form, what it says, and (in defaults.ts) what it is when nobody writes it. */
import { z } from "zod";
import { advantageFields } from "./advantageFields.ts";
import { schedulable } from "./declaration.ts";
import {
  auxiliaryDefaults,
  klDefaults,
  stageDefaults,
  taskDefaults,
  termDefaults,
  valueDefaults,
} from "./defaults.ts";
import { learningRateSchedule } from "./learningRate.ts";
import { modelFields, modelItem } from "./modelFields.ts";
import { memorySize } from "./memorySize.ts";
import { fraction, later, map, short, slot, value, whole } from "./fields.ts";
import type { Field, Fields, Shape } from "./shape.ts";
import { annealSchema, grammarSchema } from "./rollout.ts";
import { adaptiveSchema } from "../kl/adaptive.ts";
import { klAggregate, klImportance, klRows, klWeight } from "../kl/entry.ts";
import { entropySchema } from "../objective/entropy.ts";

export const conditionSchema = z.strictObject({
  metric: z.string().describe("A metric's name, e.g. `reward/total`."),
  above: z.number().optional().describe("Ends the stage when the mean over the window is above this."),
  below: z.number().optional().describe("Ends the stage when the mean over the window is below this."),
  window: whole(1)
    .optional()
    .describe("How many of the last values the mean is over; default 10, for `eval/…` 1."),
  patience: whole(1)
    .optional()
    .describe(
      "How many values in a row the bound must hold; default 1. Without a bound: ends the stage when so many values have not improved on the best.",
    ),
  min_delta: z
    .number()
    .nonnegative()
    .default(0)
    .describe("Without a bound: what counts as an improvement is more than this."),
  mode: z
    .enum(["max", "min"])
    .optional()
    .describe("Which way is better; default: what the metric's list says, else max."),
});

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
    tasks: value(z.array(z.string()), "Names of the tasks the term applies to; default: all."),
  },
};

/** A second objective, of a value head: a critic learns in the update that it serves. */
const valueLoss: Field = {
  shape: {
    kind: "slot",
    slot: "objective",
    defaults: valueDefaults,
    own: {
      coefficient: value(schedulable(z.number().nonnegative()), "Factor on the value loss (`vf_coef`)."),
    },
  },
  summary: "The loss of a value head, added to the objective's, e.g. `value_clipped`: so a critic learns.",
};

const klItem: Shape = {
  kind: "map",
  defaults: klDefaults,
  fields: {
    model: value(z.string(), "The other model. `reference`: the policy as it enters the first rl stage."),
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
      "Rollouts on which it acts: all, those that succeeded or failed (right, wrong), or groups in which all, none or some did (all_right, all_wrong, mixed).",
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

export const auxiliaryTrigger = z.union([
  z.literal("always"),
  z.strictObject({ every: whole(1).describe("Steps between two times.") }),
  z.strictObject({ last: whole(1).describe("The last so many steps of the stage.") }),
  z.strictObject({
    all_failed: whole(1).describe(
      "When so many tasks with a solution have failed in all their rollouts: these tasks.",
    ),
  }),
]);

const auxiliaryItem: Shape = {
  kind: "slot",
  slot: "auxiliary",
  defaults: auxiliaryDefaults,
  own: {
    weight: value(schedulable(z.number()), "Factor on the loss."),
    when: value(
      auxiliaryTrigger,
      "always, `{ every: n }` steps, the `{ last: n }` steps of the stage, or `{ all_failed: n }`: when n tasks have failed in all their rollouts.",
    ),
    place: value(
      z.enum(["joined", "alone"]),
      "joined: part of the policy's own optimiser steps; alone: an optimiser step of its own, behind them.",
    ),
    optimizer: slot("optimizer", "Alone: an optimiser with a memory of its own; default: the policy's."),
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
      admission: slot("admission", "Which groups reach training.", {
        refill: slot("refill", "How rejected groups are replaced within the step."),
      }),
    },
    "Which task comes next.",
  ),
  rollout: map(
    {
      prompts: value(whole(1), "Tasks (groups) per step."),
      group: value(whole(1), "Rollouts per task."),
      max_tokens: value(whole(1), "Longest response, in tokens."),
      temperature: value(schedulable(z.number().min(0)), "Softmax temperature of sampling; 0 is greedy."),
      top_p: value(
        z.number().gt(0).max(1),
        "Nucleus: keep the likeliest tokens up to this probability; 1: all.",
      ),
      top_k: value(whole(0), "Keep the k likeliest tokens; 0: all."),
      min_p: value(fraction, "Keep tokens at least this fraction as likely as the likeliest; 0: all."),
      anneal: value(annealSchema, "The temperature falls with a token's place in the response."),
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
  reward: map(
    {
      terms: {
        shape: { kind: "named_map", item: termItem, what: "reward term" },
        summary: "Sources of reward by name; they stay separate until the advantage.",
      },
      combine: slot("combine", "How terms become one reward."),
      success: map(
        {
          terms: value(
            z.array(z.string()),
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
  objective: slot("objective", "The loss whose gradient trains the policy.", {
    aggregate: slot("aggregate", "The normaliser: how per-token losses become one number."),
    value: valueLoss,
    correction: {
      shape: {
        kind: "list",
        item: { kind: "slot", slot: "correction", own: {} },
        what: "correction",
      },
      summary:
        "Weights and rejections for tokens that another distribution drew; KL terms go without the weights.",
    },
    entropy: value(
      z.union([...schedulable(z.number()).options, entropySchema]).meta({ schedulable: true }),
      "The entropy bonus, subtracted from the loss: its coefficient, or `{ coefficient, share, … }`.",
    ),
  }),
  kl: {
    shape: { kind: "list", item: klItem, what: "KL entry" },
    summary: "Divergences from other models that are penalised.",
  },
  mask: {
    shape: { kind: "list", item: { kind: "slot", slot: "mask", own: {} }, what: "mask" },
    summary: "Which tokens train; default: those the model wrote.",
  },
  replay: slot("replay", "Rollouts of earlier steps, or of a file, that train again.", {
    admission: slot("replay_admission", "Which rollouts are kept."),
    draw: slot("replay_draw", "How kept rollouts are drawn."),
    rescore: slot("rescore", "Where the advantages of replayed rollouts come from."),
    share: value(
      schedulable(z.number().min(0).lt(1)),
      "Share of replayed rollouts in the batch they join; 0.5: as many as fresh ones.",
    ),
    weight: value(schedulable(z.number().nonnegative()), "Factor on the loss of replayed rollouts."),
    every: value(whole(1), "Steps between two replays."),
    place: value(
      z.enum(["joint", "separate", "alone"]),
      "joint: one loss over fresh and replayed rollouts; separate: two losses with normalisers of their own, added in the same optimiser steps; alone: optimiser steps of their own, behind the fresh ones'.",
    ),
    updates: value(
      whole(1),
      "How often a step's rollouts are gone over (update-to-data ratio), each time with replayed ones drawn anew.",
    ),
    select: slot("selection", "Which of a step's own rollouts train.", {
      statistics: value(
        z.enum(["all", "kept"]),
        "Whether baselines and scales see all rollouts of the group or those that are kept.",
      ),
    }),
  }),
  auxiliary: {
    shape: { kind: "list", item: auxiliaryItem, what: "auxiliary loss" },
    summary: "Losses beside the objective.",
  },
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
    name: { ...value(z.string().min(1), "The stage's name. Unique."), required: true },
    kind: value(
      z.enum(["sft", "rl"]),
      "sft: supervised on the tasks' written solutions; rl: reinforcement learning. Default rl.",
    ),
    steps: value(whole(1), "Steps of the stage, at most; default for rl: the top-level `steps`."),
    batch: value(whole(1), "For sft: sequences per step; default 32."),
    until: value(conditionSchema, "Ends the stage early when a metric's mean crosses a value."),
    on_enter: value(
      z.array(z.enum(["refresh_reference", "reset_optimizer"])),
      "What happens as the stage begins.",
    ),
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
    guidance: later("guidance", "Help given to rollouts. Not in this version."),
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
            metric: z.string().describe("A metric of evaluations, e.g. `eval/greedy`."),
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
