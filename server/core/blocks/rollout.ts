/** The keys of `rollout`: how responses are generated. */
import { z } from "zod";
import { param } from "../declaration.ts";
import { isPattern } from "../../lib/textSpans.ts";
import { schedulable, valueAt } from "../schedule.ts";
import { refers } from "../references.ts";
import { choice, choiceItem, fraction, list, made, map, moving, scheduled, value, whole } from "./kinds.ts";
import type { Clock } from "../basics.ts";

const grammarSchema = z.union([
  z.strictObject({ regex: param(z.string(), "A regular expression that the whole response must match.") }),
  z.strictObject({
    choices: param(z.array(z.string().min(1)).min(1), "Texts, one of which the response must be."),
  }),
]);

const regex = z.string().min(1);
const hasPattern = ({ regex }: { readonly regex: string }): boolean => isPattern(regex);
const noPattern = {
  path: ["regex"],
  message: "must be a regular expression as in JavaScript, without slashes",
};

/** What ends a step of a response. */
const stepsSchema = z.union([
  param(z.string().min(1), "The text that ends a step. It belongs to the step."),
  z
    .strictObject({ regex: param(regex, "A regular expression whose matches end a step.") })
    .refine(hasPattern, noPattern),
]);
export type StepEnd = z.output<typeof stepsSchema>;

/** Where spans of a response are found, by their names. */
const spansSchema = z.record(
  z.string().regex(/^[A-Za-z_]\w*$/),
  z.union([
    z
      .strictObject({
        regex: param(
          regex,
          "A JavaScript regular expression over the response. The span is its first group, where it has one, else the match.",
        ),
        flags: param(
          z
            .string()
            .regex(/^[imsu]*$/)
            .default(""),
          "Flags of the expression: i, m, s, u.",
        ),
      })
      .refine(hasPattern, noPattern),
    z.strictObject({
      open: param(z.string().min(1), "The text after which a span begins."),
      close: param(
        z.string().min(1),
        "The text before which a span ends. Without it, the span ends with the response.",
      ),
    }),
  ]),
);
export type SpanRules = z.output<typeof spansSchema>;

/** Exploratory annealed decoding (Let it Calm: Exploratory Annealed Decoding for Verifiable Reinforcement Learning). */
const annealSchema = z.strictObject({
  to: param(z.number().positive().default(0.1), "The lowest temperature, τ_min."),
  decay: param(
    schedulable(z.number().positive()).default(25),
    "d in tokens: the larger it is, the later the temperature falls. It may grow over steps.",
  ),
  start: param(
    z.number().int().nonnegative().default(10),
    "Tokens at the beginning of a response that are sampled at `temperature` itself.",
  ),
});
type Anneal = z.output<typeof annealSchema>;

/** Logits perturbed by Qs (Offline RL for Natural Language Generation with Implicit Language Q Learning). */
const perturbSchema = z.strictObject({
  heads: param(
    z.array(refers({ to: "head" }).min(1)).min(1),
    "Heads with a value for every word (`words: true`). The least of their values counts.",
  ),
  beta: param(z.number().min(0).default(1), "β: the factor on the values."),
});

/** Logits moved as training moved those of a smaller model (RAST: Reasoning Activation in LLMs via Small-model Transfer). */
const deltaSchema = z.strictObject({
  model: param(
    refers({ to: "model", also: ["reference"] }).min(1),
    "The trained model: a name in `models`, with the policy's tokenizer.",
  ),
  base: param(
    refers({ to: "model", also: ["reference"] }).min(1),
    "The same model before it was trained: a name in `models`.",
  ),
  lambda: param(z.number().default(1), "λ: the factor on the difference; below 0 it is turned away from."),
});

/**
 * The temperature of a response's token t: `temperature` up to `start`, then max(to, 1 + temperature − exp((t − start)/d)).
 * It is continuous, and falls from its value at the start.
 */
export function annealed(
  temperature: number,
  { to, decay, start }: Anneal,
  clock: Clock,
): (t: number) => number {
  const d = valueAt(decay, clock);
  return (t) => (t <= start ? temperature : Math.max(to, 1 + temperature - Math.exp((t - start) / d)));
}

export type GrammarSpec = z.output<typeof grammarSchema>;

export const rollout = map(
  {
    prompts: value(whole(1), "Tasks (groups) per step.", { default: 16 }),
    group: value(whole(1), "Rollouts per task.", { default: 8 }),
    use: value(
      z.enum(["engine", "harness"]),
      "Who plays an episode. engine: Gradus itself; harness: `command`, an agent program of yours that calls the policy as a model server (`gradus serve`). Its calls become rollouts with the policy's own tokens.",
      { default: "engine" },
    ),
    command: made(
      value(
        z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
        'With `use: harness`: the program of one rollout, a line for the shell or a list of words, run in the folder of this config. It finds the policy at OPENAI_BASE_URL or ANTHROPIC_BASE_URL, and the task as JSON on its standard input and in GRADUS_TASK. The last line that it prints may be its verdict, `{"reward": 1}`, which the reward term `environment` reads.',
      ),
      (words, at) => (words === undefined ? undefined : { words, folder: at.folder ?? "." }),
    ),
    warm: value(
      z.boolean(),
      "With `use: harness`: start `command` once. It reads a line of JSON a rollout and answers each by a line with the same `id`, in any order.",
      { default: false },
    ),
    parallel: value(whole(1), "With `use: harness`: rollouts that are played at once.", { default: 8 }),
    calls: value(
      whole(1),
      "With `use: harness`: most calls of the policy in a rollout; later ones are refused.",
      { default: 32 },
    ),
    wait: value(
      z.number().positive(),
      "With `use: harness`: seconds that a rollout may take. After them it is an error of its reward and does not train, and calls that still come are refused.",
      { default: 300 },
    ),
    shape: choice(
      "episode_shape",
      "Whether a rollout is one response, or several attempts with a message between them.",
      { default: "single" },
    ),
    tools: list(
      "tool",
      choiceItem("tool"),
      "What the policy may call, with `rollout.shape: environment`. The results are observed: they never train.",
    ),
    branch: choice("branching", "Whether some rollouts of a group branch off within others, and where.", {
      default: "none",
    }),
    max_tokens: value(whole(1), "Longest response, in tokens.", { default: 64 }),
    budget: scheduled(
      z.number().positive(),
      "Longest response while training, where it differs by stage or changes over steps. Up to 1 it is a share of `max_tokens`, above 1 a number of tokens. Never above `max_tokens`.",
    ),
    temperature: scheduled(z.number().min(0), "Softmax temperature of sampling; 0 is greedy.", {
      default: 1,
      live: true,
    }),
    top_p: value(
      z.number().gt(0).max(1),
      "Nucleus: keep the likeliest tokens up to this probability; 1: all.",
      { default: 1, live: true },
    ),
    top_k: value(whole(0), "Keep the k likeliest tokens; 0: all.", { default: 0, live: true }),
    min_p: value(fraction, "Keep tokens at least this fraction as likely as the likeliest; 0: all.", {
      default: 0,
      live: true,
    }),
    repetition_penalty: value(
      z.number().positive(),
      "Logits of tokens that occur in the prompt or response are divided by it where positive, else multiplied; 1: off.",
      { default: 1, live: true },
    ),
    presence_penalty: value(
      z.number(),
      "Subtracted from the logits of tokens that occur in the response; 0: off.",
      { default: 0, live: true },
    ),
    frequency_penalty: value(
      z.number(),
      "Subtracted from a token's logit once for each time it occurs in the response; 0: off.",
      { default: 0, live: true },
    ),
    anneal: moving(annealSchema, "The temperature falls with a token's position in the response."),
    perturb: value(
      perturbSchema,
      "Adds β times the least of some heads' values of each word to the policy's logits, so that it generates what the heads value.",
    ),
    delta_logits: value(
      deltaSchema,
      "Adds λ times the difference of two other models' logits, one trained and one not, to the policy's. Both read each text again for every token, without caches.",
    ),
    steps: value(
      stepsSchema,
      "What ends a step of a response: a text, or { regex }. Rewards, values and advantages by step use these steps.",
    ),
    spans: value(
      spansSchema,
      "Spans of a response, recorded by name for masks to read: what { regex } finds, or what is between { open, close }.",
    ),
    stop: value(z.array(z.string().min(1)), "Texts that end a response.", { default: [] }),
    chat: value(
      z.union([z.boolean(), z.literal("auto")]),
      "Whether prompts use the model's chat template, with the prompt as the user's message. auto: where the model has one.",
      { default: "auto" },
    ),
    system: value(z.string(), "The system message of a chat."),
    min_tokens: value(whole(0), "Least tokens of a response: nothing ends it earlier; 0: no minimum.", {
      default: 0,
    }),
    prefix: value(z.string(), "Text that every response begins with. It is prefilled, and does not train.", {
      default: "",
    }),
    logit_bias: value(
      z.record(z.string(), z.number()),
      "Added to logits before the temperature: `{ token: value }`, where the token is an id or a text that is one token.",
      { default: {} },
    ),
    grammar: value(
      grammarSchema,
      "What a whole response (after `prefix`) must be. Tokens that do not fit are never sampled.",
    ),
    lanes: value(
      whole(1),
      "Responses generated at once. It bounds memory and changes no result. Default: as many as fit.",
    ),
  },
  "How responses are generated.",
);
