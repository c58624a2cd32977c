/** Log-probs, entropies, normalizers and heads of the models that a step's algorithm names. */
import type { ModelScores, Selected, StepContext } from "../context.ts";
import type { Algorithm } from "../../../algorithm/algorithm.ts";
import type { Clock } from "../../../core/basics.ts";
import type { HeadOf } from "../../../core/loss.ts";
import type { Channel, Models, Stats } from "../../../core/policy.ts";
import type { Batch } from "../../../core/rollouts.ts";
import { selectRows } from "../../../core/rows/batch.ts";
import { readerName, readerOf } from "../../../core/rows/reader.ts";
import { otherHead } from "../../../methods/objective/values/otherHeads.ts";
import { headChannel } from "../../../core/channelNames.ts";
import { selectStats } from "../update/training.ts";

const behaviour = (batch: Batch): Stats =>
  batch.columns.logp_old === undefined ? {} : { logp: batch.columns.logp_old };

/** Columns of generation, and what the models that the step names say of the rows. */
export async function modelStats({ session, stage, clock }: StepContext, rows: Batch): Promise<Stats> {
  return { ...behaviour(rows), ...(await scoredBy(session.models, stage.algorithm, rows, clock)) };
}

/** A penalty on the reward is part of every row's reward; one in the loss concerns those that train. */
export async function scoreByModels(
  context: StepContext,
  { batch, admitted, criticValues }: Selected,
): Promise<ModelScores> {
  const { stage } = context;
  const ask = (rows: Batch): Promise<Stats> => modelStats(context, rows);
  const train = selectRows(batch, admitted);
  if (!stage.algorithm.kl.some(({ place: where }) => where === "reward"))
    return {
      all: { ...behaviour(batch), ...criticValues },
      train: train.rows === 0 ? {} : { ...(await ask(train)), ...selectStats(criticValues, batch, admitted) },
    };
  const all = { ...(await ask(batch)), ...criticValues };
  return { all, train: selectStats(all, batch, admitted) };
}

/** Words for the policy as the step found it, unless `models` has one of that name. */
const own: readonly string[] = ["proximal", "previous"];

/** What the models that the step names say of the rows. */
async function scoredBy(models: Models, algorithm: Algorithm, rows: Batch, clock: Clock): Promise<Stats> {
  const columns: Partial<Record<Channel, Float64Array>> = {};
  const { models: compared, entropies, normalizers, heads, before } = algorithm.needs(clock);
  const policy = models.get("policy");
  for (const name of new Set([...compared, ...entropies, ...normalizers])) {
    const reader = readerOf(name);
    // Rows without other contexts have no teacher context of that name.
    if (reader.teacher !== undefined && rows.contexts?.[reader.teacher] === undefined) continue;
    // Before its first update of the step the policy is the proximal one, and the iterate before the next.
    const known = models.names.includes(reader.model) || !own.includes(reader.model);
    const model = known ? name : readerName({ ...reader, model: "policy" });
    const channels: Channel[] = ["logp"];
    if (entropies.includes(name)) channels.push("entropy");
    if (normalizers.includes(name)) channels.push("logsumexp");
    const { logp, entropy, logsumexp } = await policy.score(rows, { model, channels });
    if (logp !== undefined) columns[`logp:${name}`] = logp;
    if (entropy !== undefined) columns[`entropy:${name}`] = entropy;
    if (logsumexp !== undefined) columns[`logsumexp:${name}`] = logsumexp;
  }
  Object.assign(columns, await headsOf(models, heads, rows));
  if (before.length === 0) return columns;
  return { ...columns, ...(await policy.score(rows, { model: "policy", channels: before })) };
}

/** What heads of other models say of the rows. @param name of a head's column */
export async function headsOf(
  models: Models,
  heads: readonly HeadOf[],
  rows: Batch,
  name: (of: HeadOf) => Channel = otherHead,
): Promise<Stats> {
  const columns: Partial<Record<Channel, Float64Array>> = {};
  for (const model of new Set(heads.map((one) => one.model))) {
    const own = heads.filter((one) => one.model === model);
    const channels = own.map(({ head }) => headChannel(head));
    const found = await models
      .get(models.names.includes(model) ? model : "policy")
      .score(rows, { model, channels });
    own.forEach((one, i) => (columns[name(one)] = found[channels[i]!]!));
  }
  return columns;
}
