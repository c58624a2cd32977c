/** Prompts to batches: what is about to be written, the samples that came back, several rounds as one batch. */
import { batchOfSamples, type SampledRow } from "../../../core/rows/sampledRows.ts";
import { joinBatches } from "../../../core/rows/joinBatches.ts";
import type { Task } from "../../../core/task.ts";
import type { Turn } from "../../../core/slots/turn.ts";
import type { HelpRecord } from "../../../core/help.ts";
import type { EpisodeState, Lead } from "../../../core/slots/guidance.ts";
import type { Arm } from "../../../core/basics.ts";
import type { Batch, Played, RolloutRecord, RolloutSource, RolloutUse } from "../../../core/rollouts.ts";
import type { Prompt, Sample, Tokenizer } from "../../../core/policy.ts";
import { responseText } from "../../../core/rows/ends.ts";
import { joinedTexts } from "../../../../shared/rollouts/turnTexts.ts";

/** A rollout that is about to be written: everything but its tokens. */
export interface Draft {
  readonly task: Task;
  readonly arm: Arm;
  readonly group: string;
  /** Place in the group. */
  readonly index: number;
  readonly prompt: Prompt;
  readonly use: RolloutUse;
  readonly source: RolloutSource;
  /** Of a branch: whom it left and where; the prompt's prefix is what it took over. */
  readonly parent?: RolloutRecord["parent"];
  /** How it is helped; the lead's tokens are the last of the prompt's prefix. */
  readonly help?: {
    readonly lead: readonly Lead[];
    /** Nothing is left to write. */
    readonly whole: boolean;
    readonly record: HelpRecord;
    readonly trains: "written" | "given" | "all";
    /** Replaces the context in training. */
    readonly train_context?: Int32Array;
  };
  /** Where an earlier episode stood, and what every attempt begins with. */
  readonly resumes?: { readonly state: EpisodeState; readonly begin: Int32Array };
  /** Of an episode of several attempts: what comes before the last one, and how all of it is divided. */
  readonly episode?: {
    readonly parts: readonly Lead[];
    readonly turns: readonly Turn[];
    readonly tries: number;
    readonly failed?: string;
    readonly played?: Played;
    readonly part?: RolloutRecord["part"];
    readonly answered?: RolloutRecord["answered"];
  };
}

export const tokensOf = (part: Lead): Int32Array => (part.kind === "own" ? part.sample.tokens : part.tokens);
/** Tokens of all parts. */
export const lengthOf = (lead: readonly Lead[]): number =>
  lead.reduce((sum, part) => sum + tokensOf(part).length, 0);

/** The response as text: what was given and written, without the end token. */
function responseOf({ prompt, episode }: Draft, { tokens }: Sample, tokenizer: Tokenizer): string {
  if (episode !== undefined) return joinedTexts(episode.turns);
  return responseText(Int32Array.from([...(prompt.prefix ?? []), ...tokens]), tokenizer);
}

/** Spans of a helped response: what was put there, and what it goes on from. */
function spansOf(begin: number, lead: readonly Lead[]): NonNullable<RolloutRecord["spans"]> {
  const spans: Record<string, [number, number][]> = {};
  let at = begin;
  for (const part of lead) {
    const end = at + tokensOf(part).length;
    (spans[part.kind === "given" ? "help" : "attempt"] ??= []).push([at, end]);
    at = end;
  }
  return spans;
}

function rowOf(draft: Draft, sample: Sample, tokenizer: Tokenizer): SampledRow {
  const { task, arm, group, index, prompt, use, source, parent, help, episode } = draft;
  const { prefix = new Int32Array(0) } = prompt;
  const begin = prefix.length - lengthOf(help?.lead ?? []);
  const record: RolloutRecord = {
    task,
    arm,
    group,
    index,
    prompt: task.prompt,
    response: responseOf(draft, sample, tokenizer),
    finish: sample.finish,
    source,
    use,
    ...(parent && { parent }),
    ...(episode && { turns: episode.turns, tries: episode.tries }),
    ...(episode?.failed !== undefined && { failed: episode.failed }),
    ...(episode?.played && { played: episode.played }),
    ...(episode?.part && { part: episode.part }),
    ...(episode?.answered && { answered: episode.answered }),
    ...(help && { help: help.record }),
    ...(help && help.lead.length > 0 && { spans: spansOf(begin, help.lead) }),
  };
  return {
    record,
    sample,
    context: prompt.tokens,
    ...(begin > 0 && { given: prefix.slice(0, begin) }),
    ...((help ?? episode) && { lead: [...(help?.lead ?? []), ...(episode?.parts ?? [])] }),
    ...(help && { trains: help.trains }),
    ...(help?.train_context && { train_context: help.train_context }),
  };
}

/** Samples, in whatever order they were finished, as a batch in the order of their drafts. */
export function assemble(
  drafts: readonly Draft[],
  samples: ReadonlyMap<number, Sample>,
  tokenizer: Tokenizer,
  version: number,
): Batch {
  return { ...batchOfSamples(drafts.map((draft, i) => rowOf(draft, samples.get(i)!, tokenizer))), version };
}

/** What is drafted and what was written of it. */
export interface EpisodeRow {
  readonly draft: Draft;
  readonly sample: Sample;
}

/** Rows of episodes, which are drafted only once they are over. */
export const assembleRows = (rows: readonly EpisodeRow[], tokenizer: Tokenizer, version: number): Batch =>
  assemble(
    rows.map(({ draft }) => draft),
    new Map(rows.map(({ sample }, i) => [i, sample])),
    tokenizer,
    version,
  );

/** The rounds of one step as one batch. A group never spans rounds: equal names in two rounds are two groups. */
export function concatenate(batches: readonly [Batch, ...Batch[]]): Batch {
  const [first] = batches;
  if (batches.length === 1) return first;
  const names = batches.flatMap((batch, round) => [...batch.group].map((group) => `${round}/${group}`));
  return { ...joinBatches(batches, names), ...(first.version !== undefined && { version: first.version }) };
}
