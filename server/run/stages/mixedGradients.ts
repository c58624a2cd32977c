/** Whether imitation or reinforcement would lower the loss on other demonstrations more: one scalar product of gradients. */
import { isNought } from "../../algorithm/advantages/tokenColumn.ts";
import { dot } from "../../lib/algebra/linear.ts";
import type { LossPart } from "../step/update/lossParts.ts";
import type { StepContext } from "../step/context.ts";
import { updateOf, type Training } from "../step/update/training.ts";

type Gradients = Readonly<Record<string, Float32Array>>;
type Part = Pick<LossPart, "batch" | "channels" | "weigh">;

/** A gradient without an entry is 0 there. */
const product = (one: Gradients, other: Gradients): number =>
  Object.entries(one).reduce((sum, [name, own]) => {
    const theirs = other[name];
    return theirs === undefined ? sum : sum + dot(own, theirs);
  }, 0);

/** The objective over the rollouts of the step that train, as one part. */
function objectivePart({ stage, session, clock }: StepContext, train: Training): Part {
  const { algorithm } = stage;
  const { version } = session.models.get("policy");
  const rows = [...train.batch.records.keys()];
  return {
    batch: train.batch,
    channels: algorithm.needs(clock).channels,
    weigh: algorithm.weigh({ ...updateOf(train, rows), version, reuse: true }, clock),
  };
}

/**
 * ⟨∇L_val, ∇L_SFT − ∇L_RL⟩ at the policy's weights as they are.
 * @param imitated what trains now, and `other` demonstrations that do not
 */
export function imitationGain(context: StepContext, train: Training, imitated: Part, other: Part): number {
  const { policy } = context.session;
  const { unit } = context.stage.algorithm.needs(context.clock);
  const of = ({ batch, channels, weigh }: Part, by: "sequence" | typeof unit): Gradients =>
    policy.gradients(batch, { channels, unit: by }, weigh);
  const validation = of(other, "sequence");
  const imitation = product(validation, of(imitated, "sequence"));
  const reinforcement = isNought(train.weights)
    ? 0
    : product(validation, of(objectivePart(context, train), unit));
  return imitation - reinforcement;
}
