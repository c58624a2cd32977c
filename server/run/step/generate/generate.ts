/** Prompts to a batch of rollouts. Each has its own random stream, whatever else is generated at the same time. */
import { UserError } from "../../../../shared/lib/errors.ts";
import type { HelpRecord } from "../../../core/help.ts";
import type { StartState, EpisodeState, Help } from "../../../core/slots/guidance.ts";
import type { Batch, RolloutUse } from "../../../core/rollouts.ts";
import type { DecodeOptions, Policy, Prompt, Sample, Tokenizer } from "../../../core/policy.ts";
import { assemble, tokensOf, type Draft } from "./assemble.ts";
import { asked, type Asking } from "./prompts.ts";
import { joinedTexts } from "../../../../shared/rollouts/turnTexts.ts";
import type { DrawnTask } from "../../../algorithm/curriculum/draws.ts";
import { hasEnded, responseText } from "../../../core/rows/ends.ts";

/** A task with its group's name, which is unique in the step, and where its rollouts begin. */
export interface DrawnGroup
  extends DrawnTask, Pick<StartState, "lead" | "prompt" | "whole" | "help" | "state"> {
  readonly group: string;
}

/** What every draft of a round shares. */
export interface Drafting {
  readonly policy: Policy;
  /** Names the streams of training, evaluation and help. */
  readonly key: readonly (string | number)[];
  readonly use: RolloutUse;
  readonly asking: Asking;
}

/** `count` rollouts of each group that has no number of its own. `key` keeps the streams of training and evaluation apart. */
export const draftsOf = (
  groups: readonly DrawnGroup[],
  count: number,
  policy: Policy,
  key: readonly (string | number)[],
  use: RolloutUse,
  asking: Asking,
): Draft[] =>
  groups.flatMap((group) =>
    Array.from({ length: group.rollouts ?? count }, (_, index) =>
      plainDraft(group, index, { policy, key, use, asking }),
    ),
  );

/** A rollout of a group, from where the group starts. @throws UserError for a prompt that fills the context */
export function plainDraft(drawn: DrawnGroup, index: number, drafting: Drafting): Draft {
  const { task, help, lead, prompt, whole, state } = drawn;
  if (state !== undefined) return resumedDraft(drawn, state, index, drafting);
  const made =
    lead === undefined && prompt === undefined
      ? bareDraft(drawn, index, drafting)
      : helpedDraft(
          drawn,
          index,
          { from: "guided", ...(lead && { lead }), ...(prompt && { prompt }), ...(whole && { whole }) },
          drafting,
          {
            record: { use: "start", ...help, round: 0 },
            strip: false,
            trains: "auto",
          },
        );
  if (made !== undefined) return made;
  const { tokens, prefix } = asked(drafting.policy.tokenizer, task, drafting.asking);
  throw tooLong(task.prompt, tokens.length + (prefix?.length ?? 0), drafting.policy.context);
}

/** An episode that goes on where an earlier one stood. */
function resumedDraft(
  { task, arm, group, help }: DrawnGroup,
  state: EpisodeState,
  index: number,
  { policy: { tokenizer }, key, use, asking }: Drafting,
): Draft {
  const { tokens, prefix } = asked(tokenizer, task, asking);
  const given = state.turns.reduce((sum, turn) => sum + turn.tokens.length, 0);
  const text = joinedTexts(state.turns);
  return {
    task,
    arm,
    group,
    index,
    use,
    source: "guided",
    prompt: { tokens, key: [...key, group, index] },
    resumes: { state, begin: prefix ?? new Int32Array(0) },
    help: {
      lead: [],
      whole: false,
      trains: "written",
      record: { use: "start", ...help, round: 0, given, text },
    },
  };
}

function bareDraft(
  { task, arm, group }: DrawnGroup,
  index: number,
  { policy, key, use, asking }: Drafting,
): Draft | undefined {
  const question = asked(policy.tokenizer, task, asking);
  if (question.tokens.length + (question.prefix?.length ?? 0) >= policy.context) return undefined;
  const prompt = { ...question, key: [...key, group, index] };
  return { task, arm, group, index, use, source: "self", prompt };
}

/** How a helped rollout trains, and what is kept of its help. */
interface Helping {
  readonly record: HelpRecord;
  readonly strip: boolean;
  readonly trains: "auto" | "written" | "given" | "all";
}

/** A rollout with its help; undefined: help and prompt leave no room in the model's context. */
export function helpedDraft(
  { task, arm, group }: DrawnTask & { readonly group: string },
  index: number,
  { prompt: text, lead = [], whole = false, from }: Help,
  { policy, key, use, asking }: Drafting,
  { record, strip, trains }: Helping,
): Draft | undefined {
  const { tokenizer } = policy;
  const question = asked(tokenizer, text === undefined ? task : { ...task, prompt: text }, asking);
  const added = lead.flatMap((part) => [...tokensOf(part)]);
  const prefix = [...(question.prefix ?? []), ...added];
  const bare = strip && text !== undefined ? asked(tokenizer, task, asking).tokens : undefined;
  const room = policy.context - Math.max(question.tokens.length, bare?.length ?? 0) - prefix.length;
  if (room < (whole ? 0 : 1)) return undefined;
  const given = lead.flatMap((part) => (part.kind === "given" ? [...part.tokens] : []));
  return {
    task,
    arm,
    group,
    index,
    use,
    source: from,
    prompt: {
      tokens: question.tokens,
      ...(prefix.length > 0 && { prefix: Int32Array.from(prefix) }),
      ...(bare !== undefined && bare.length > question.tokens.length && { max_tokens: room }),
      key: [...key, group, index],
    },
    help: {
      lead,
      whole,
      record: {
        ...record,
        ...(text !== undefined && { prompt: text }),
        ...(given.length > 0 && {
          given: given.length,
          text: responseText(Int32Array.from(given), tokenizer),
        }),
        ...(bare && { stripped: true }),
      },
      trains: trains === "auto" ? (whole ? "all" : "written") : trains,
      ...(bare && { train_context: bare }),
    },
  };
}

export const tooLong = (prompt: string, length: number, context: number): UserError =>
  new UserError(
    `A prompt of ${length} tokens leaves no room in the model's context of ${context}: ${JSON.stringify(prompt.slice(0, 80))}…`,
    {
      code: "prompt-too-long",
      action:
        "Shorten the prompts (a dataset leaves long ones out by `max_prompt` with `overlong: filter`), or choose a model with a longer context.",
    },
  );

/** The sample of a response that is prefilled to its end. */
export const nothing = (index: number, { prompt }: Draft, tokenizer: Tokenizer): Sample => ({
  index,
  tokens: new Int32Array(0),
  logp_old: new Float64Array(0),
  logp_sampled: new Float64Array(0),
  entropy: new Float64Array(0),
  versions: new Int32Array(0),
  finish: hasEnded(prompt.prefix ?? [], tokenizer) ? "stop" : "length",
});

/**
 * The response to each prompt, in order.
 * @throws whatever `decode.signal` was aborted with, and what `decode.between` throws
 */
export async function sampled(
  policy: Policy,
  prompts: readonly Prompt[],
  decode: DecodeOptions,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  for await (const sample of policy.generate(prompts, decode)) {
    samples[sample.index] = sample;
    decode.signal?.throwIfAborted();
  }
  return samples;
}

/**
 * Writes the drafts' responses.
 * @throws whatever `decode.signal` was aborted with, and what `decode.between` throws
 */
export async function rollOut(
  policy: Policy,
  drafts: readonly Draft[],
  decode: DecodeOptions,
): Promise<Batch> {
  const samples = new Map<number, Sample>();
  const open: number[] = [];
  drafts.forEach((draft, index) => {
    if (draft.help?.whole === true) samples.set(index, nothing(index, draft, policy.tokenizer));
    else open.push(index);
  });
  const version = policy.version;
  const written = await sampled(
    policy,
    open.map((index) => drafts[index]!.prompt),
    decode,
  );
  open.forEach((index, i) => samples.set(index, written[i]!));
  return assemble(drafts, samples, policy.tokenizer, version);
}
