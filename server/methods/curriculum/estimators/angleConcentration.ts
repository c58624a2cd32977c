import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { estimator, param, type MethodContext } from "../../../core/declaration.ts";
import type { Task } from "../../../core/task.ts";
import type { Clock, Saved } from "../../../core/basics.ts";
import type { Policy } from "../../../core/policy.ts";
import { Column } from "../column.ts";
import type { ArmSet } from "../../../core/slots/arms.ts";
import type {
  Candidate,
  Estimator,
  EstimatorExtensions,
  Predictions,
  PromptModel,
} from "../../../core/slots/curriculum.ts";
import { questionIn } from "./question.ts";

/** Prompts tokenised and held at a time. */
const chunk = 512;

interface Setup {
  readonly weight: number;
  readonly asking: MethodContext["asking"];
  /** @throws UserError where there is no model */
  readonly policy: () => Policy;
}

/** Each prompt's angles under the weights of its first pass; and those of a step's prompts under the current weights. */
class AngleConcentration implements Estimator, EstimatorExtensions, PromptModel {
  readonly model = this;
  private readonly values = new Column(Number.NaN);
  /** Arms with a prediction: all below this number. */
  private predicted = 0;
  private readonly now = new Map<number, number>();
  private step = -1;

  constructor(private readonly setup: Setup) {}

  async predictNew(arms: ArmSet): Promise<readonly number[]> {
    const fresh = Array.from({ length: arms.size - this.predicted }, (_, i) => this.predicted + i);
    if (fresh.length === 0) return [];
    const { task } = arms;
    if (task === undefined) throw noTasks();
    for (let from = 0; from < fresh.length; from += chunk) {
      const some = fresh.slice(from, from + chunk);
      const angles = await this.anglesOf(some.map((arm) => task.call(arms, arm)));
      some.forEach((arm, i) => {
        this.values.set(arm, angles[i]!);
      });
      this.predicted += some.length;
    }
    return fresh;
  }
  async predictDrawn(drawn: readonly Candidate[], { step }: Clock): Promise<void> {
    // A step may draw more than once.
    if (step !== this.step) this.now.clear();
    this.step = step;
    if (drawn.length === 0) return;
    const angles = await this.anglesOf(drawn.map(({ task }) => task));
    drawn.forEach(({ arm }, i) => this.now.set(arm, angles[i]!));
  }
  restore({ arms, values, now }: Predictions, { step }: Clock): void {
    if (now && step !== this.step) this.now.clear();
    if (now) this.step = step;
    arms.forEach((arm, i) => {
      if (now) this.now.set(arm, values[i]!);
      else this.values.set(arm, values[i]!);
    });
    if (!now) this.predicted = Math.max(this.predicted, ...arms.map((arm) => arm + 1));
  }
  private async anglesOf(tasks: readonly Task[]): Promise<Float64Array> {
    const { asking, weight } = this.setup;
    const policy = this.setup.policy();
    const questions = tasks.map((task) => {
      const question = questionIn(policy.tokenizer, task.prompt, asking);
      if (question.tokens.length < policy.context) return question;
      throw tooLong(task, question.tokens.length, policy.context);
    });
    const { intra, inter } = await policy.angles(questions);
    return intra.map((within, i) => {
      const value = within + weight * inter[i]!;
      if (Number.isFinite(value)) return value;
      throw noAngles(tasks[i]!);
    });
  }

  observe(): void {
    // Angles are predicted, not observed.
  }
  estimate(arm: number): number {
    return this.values.get(arm);
  }
  current(arm: number): number | undefined {
    return this.now.get(arm);
  }
  /** The predictions of a step's own prompts are not kept. */
  save(): Saved {
    return { json: this.predicted, arrays: { values: this.values.save() } };
  }
  load({ json, arrays }: Saved): void {
    this.predicted = Number(json);
    this.values.load(arrays?.["values"]);
    this.now.clear();
  }
}

const noTasks = (): UserError =>
  new UserError("angles are measured on prompts, and these arms are not prompts.", {
    code: "estimator-angles",
    action: "Set `curriculum.arms: prompt`.",
  });
const noAngles = ({ source, id }: Task): UserError =>
  new UserError(`the model's states of the prompt ${source}/${id} have no angles: they are not finite.`, {
    code: "estimator-angles",
    action: "Go back to a checkpoint, or lower the learning rate: the model's weights have overflowed.",
  });
const tooLong = ({ source, id }: Task, tokens: number, context: number): UserError =>
  new UserError(
    `the prompt ${source}/${id} has ${tokens} tokens, which leaves no room for an answer in the model's context of ${context}.`,
    {
      code: "estimator-angles",
      action: "Leave the task out, or give the model a longer context (`model.context`).",
    },
  );
const noModel = (): never => {
  throw new UserError("Angles can't be measured here: there is no model.", {
    code: "estimator-angles",
    action:
      "Run the config, or try it with `--simulate`. A history can be replayed with angles measured before: `estimator: { use: static, by: field, field: <name> }`.",
  });
};

export const angleConcentration = estimator({
  name: "angle_concentration",
  summary:
    "How similar the policy's hidden states of a prompt's tokens are. It takes one forward pass over every prompt before the first step (and over new prompts later), and one over each step's prompts; nothing is generated.",
  formula:
    "Q = mean_{i, j ∈ question} cos(x_i, x_j) + w · mean_{i ∈ question, j before it} cos(x_i, x_j), x what the last layer's feed-forward reads",
  sources: ["Angles Don't Lie: Unlocking Training-Efficient RL Through the Model's Own Signals"],
  gives: ["estimate"],
  takes: ["tasks"],
  failing: () => "even",
  params: z.object({
    inter_weight: param(
      z.number().min(0).default(1),
      "w: the weight of the question's angles with the tokens before it (system message, template); 1 in the paper, 8 in its released code.",
    ),
  }),
  create: ({ inter_weight }, { models, asking }) =>
    new AngleConcentration({
      weight: inter_weight,
      asking,
      policy: () => models?.get("policy") ?? noModel(),
    }),
});
