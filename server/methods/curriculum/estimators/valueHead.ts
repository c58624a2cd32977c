import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { batchOfSamples, type SampledRow } from "../../../core/rows/sampledRows.ts";
import { textRecord } from "../../../core/rows/textRows.ts";
import { estimator, param } from "../../../core/declaration.ts";
import { refers } from "../../../core/references.ts";
import type { Task } from "../../../core/task.ts";
import type { Saved } from "../../../core/basics.ts";
import type { Batch, Group } from "../../../core/rollouts.ts";
import type { Channel, Models, Tokenizer, Weighed } from "../../../core/policy.ts";
import { Column } from "../column.ts";
import type {
  Candidate,
  Estimator,
  EstimatorExtensions,
  Predictions,
  PromptModel,
} from "../../../core/slots/curriculum.ts";
import { promptFeatures } from "./features.ts";
import { mean } from "../../../../shared/lib/mean.ts";

/** Predicts the mean reward of tasks. */
interface ValueModel {
  values(tasks: readonly Task[]): Promise<Float64Array>;
  /** One step on mean (V − r̄)². @returns that, before the step */
  fit(tasks: readonly Task[], targets: Float64Array): Promise<number>;
}

/** Σ (V_i − t_i)²/n and its derivative by each V_i. */
export function squaredError(
  values: Float64Array,
  targets: Float64Array,
): Pick<Weighed, "loss"> & {
  readonly gradients: Float64Array;
} {
  const n = values.length;
  return {
    loss: values.reduce((sum, v, i) => sum + (v - targets[i]!) ** 2, 0) / n,
    gradients: values.map((v, i) => (2 * (v - targets[i]!)) / n),
  };
}

const promptTokens = (tokenizer: Tokenizer, prompt: string): Int32Array => {
  const chat = tokenizer.chat?.([{ role: "user", content: prompt }]);
  return chat === undefined
    ? Int32Array.from([...(tokenizer.prefix ?? []), ...tokenizer.encode(prompt)])
    : tokenizer.encode(chat);
};

/** Each prompt followed by one token, where the head's value is that of the prompt. */
function promptsAsBatch(tasks: readonly Task[], tokenizer: Tokenizer): Batch {
  const none = new Float64Array(1);
  return batchOfSamples(
    tasks.map((task, i): SampledRow => ({
      record: { ...textRecord(task, i, ""), use: "estimate" },
      sample: {
        tokens: Int32Array.of(tokenizer.eos),
        logp_old: none,
        logp_sampled: none,
        entropy: none,
        versions: Int32Array.of(-1),
      },
      context: promptTokens(tokenizer, task.prompt),
    })),
  );
}

/** A head of a language model of the run. */
function headModel(models: Models, model: string, head: string): ValueModel {
  const channel: Channel = `head:${head}`;
  const missing = (): never => {
    throw new UserError(`The model ${model} has no head ${head}.`, {
      code: "value-head",
      action: `Add it: \`models.${model}: { value_heads: [${head}] }\`.`,
    });
  };
  return {
    values: async (tasks) => {
      const policy = models.get(model);
      const stats = await policy.score(promptsAsBatch(tasks, policy.tokenizer), {
        model,
        channels: [channel],
      });
      return stats[channel] ?? missing();
    },
    fit: async (tasks, targets) => {
      const policy = models.get(model);
      const batch = promptsAsBatch(tasks, policy.tokenizer);
      const { loss } = await policy.update(batch, { channels: [channel], unit: "sequence" }, (now) => {
        const { loss: error, gradients } = squaredError(now[channel] ?? missing(), targets);
        return { loss: error, gradients: { [channel]: gradients } };
      });
      return loss;
    },
  };
}

/** A multilayer perceptron over features of the prompt's text. */
function perceptronModel(models: Models, name: string): ValueModel {
  const features = (tasks: readonly Task[]): { readonly rows: number; readonly values: Float64Array } => {
    const { inputs } = models.perceptron(name);
    return {
      rows: tasks.length,
      values: Float64Array.from(tasks.flatMap((task) => [...promptFeatures(task, inputs)])),
    };
  };
  return {
    values: async (tasks) => models.perceptron(name).predict(features(tasks)),
    fit: async (tasks, targets) => {
      const { loss } = await models
        .perceptron(name)
        .update(features(tasks), (outputs) => squaredError(outputs, targets));
      return loss;
    },
  };
}

type Range = readonly [low: number, high: number];
const rangeSchema = z.tuple([z.number(), z.number()]);
const noRewards: Range = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/** The model's last prediction of each arm; arms without one are unknown. */
class ValueHead implements Estimator, EstimatorExtensions, PromptModel {
  readonly model = this;
  private readonly values = new Column(Number.NaN);
  /** The least and the greatest mean reward of a group: predictions beyond are extrapolated from other prompts. */
  private range: Range = noRewards;

  constructor(
    private readonly name: string,
    private readonly head: ValueModel,
  ) {}

  async predict(candidates: readonly Candidate[]): Promise<void> {
    const values = await this.head.values(candidates.map(({ task }) => task));
    candidates.forEach(({ arm }, i) => {
      this.values.set(arm, this.within(values[i]!));
    });
  }
  private within(value: number): number {
    const [low, high] = this.range;
    return low > high ? value : Math.min(high, Math.max(low, value));
  }
  restore({ arms, values }: Predictions): void {
    arms.forEach((arm, i) => {
      this.values.set(arm, values[i]!);
    });
  }
  observeGroups(groups: readonly Group[]): void {
    const means = groups.filter(({ rewards }) => rewards.length > 0).map(({ rewards }) => mean(rewards));
    this.range = [Math.min(this.range[0], ...means), Math.max(this.range[1], ...means)];
  }
  observe(): void {
    // The model learns from the groups' tasks, not from arms.
  }
  async train(groups: readonly Group[]): Promise<Readonly<Record<string, number>>> {
    const scored = groups.filter(({ rewards }) => rewards.length > 0);
    if (scored.length === 0) return {};
    const targets = Float64Array.from(scored, ({ rewards }) => mean(rewards));
    const error = await this.head.fit(
      scored.map(({ task }) => task),
      targets,
    );
    return { [`learner/${this.name}/value_error`]: error };
  }
  estimate(arm: number): number {
    return this.values.get(arm);
  }
  save(): Saved {
    const [low, high] = this.range;
    return { json: low > high ? null : [low, high], arrays: { values: this.values.save() } };
  }
  load({ json, arrays }: Saved): void {
    // An earlier version saved no range.
    this.range = rangeSchema.safeParse(json).data ?? noRewards;
    this.values.load(arrays?.["values"]);
  }
}

const params = z.object({
  model: param(
    refers({ to: "model" }).optional(),
    "A language model of `models` that trains; not the policy, whose own steps its error would disturb.",
  ),
  head: param(refers({ to: "head" }).default("value"), "Name of the head."),
  perceptron: param(
    refers({ to: "model" }).optional(),
    "In place of a head: a model of `kind: mlp`, over hashed pieces of the prompt's text.",
  ),
});

function modelOf(
  { model, head, perceptron }: z.output<typeof params>,
  models: Models | undefined,
): ValueModel {
  const named = perceptron ?? model;
  if (named === undefined || named === "policy")
    throw new UserError("value_head needs a model of its own.", {
      code: "value-head",
      action:
        "Add one to `models` and name it: `model: <name>` with a value head, or `perceptron: <name>` of `kind: mlp`.",
    });
  if (models === undefined) {
    const none = (): never => {
      throw new UserError("A value head can't predict here: there are no models.", {
        code: "value-head",
        action: "Run the config: only a run can predict prompts.",
      });
    };
    return { values: none, fit: none };
  }
  return perceptron === undefined ? headModel(models, named, head) : perceptronModel(models, perceptron);
}

export const valueHead = estimator({
  name: "value_head",
  summary:
    "A model's prediction of a prompt's mean reward, without rollouts of it; it learns from the rollouts of the prompts that are drawn.",
  formula:
    "V_φ(x) at the prompt's end; one step a step of the run on mean over its prompts of (V_φ(x) − mean_i r_i)²; predictions are clipped to the least and the greatest mean_i r_i so far, so that those of prompts that are not drawn do not drift",
  sources: ["Prompt Curriculum Learning for Efficient LLM Post-Training"],
  gives: ["estimate", "foresight"],
  takes: ["tasks"],
  params,
  create: (options, { models }) =>
    new ValueHead(options.perceptron ?? options.model ?? "", modelOf(options, models)),
});
