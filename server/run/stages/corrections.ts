/** What should have been thought in a step's rollouts, as rows to imitate. */
import { outcome } from "../../algorithm/rewards/rewards.ts";
import { batchOfSamples } from "../../core/rows/sampledRows.ts";
import { fill } from "../../core/templates.ts";
import type { KeptRow } from "../../methods/replay/keptRow.ts";
import type { Task } from "../../core/task.ts";
import type { AuxiliaryData } from "../../core/slots/auxiliary.ts";
import type { Batch } from "../../core/rollouts.ts";
import { sectionsIn } from "../../lib/textSpans.ts";
import type { Selected, StepContext } from "../step/context.ts";
import { StepHelp } from "../step/help/stepHelp.ts";

type Corrections = Extract<AuxiliaryData, { from: "corrections" }>;

/** A response cut where its thought is. */
interface ThoughtCut {
  readonly before: string;
  readonly thought: string;
  /** What closes it; empty where the whole response is the thought. */
  readonly close: string;
}

export function cutAt(response: string, tag: string): ThoughtCut {
  const [open, close] = [`<${tag}>`, `</${tag}>`];
  const [found] = tag === "" ? [] : sectionsIn(response, { open, close });
  if (found === undefined) return { before: "", thought: response, close: "" };
  return { before: response.slice(0, found[0]), thought: response.slice(...found), close };
}

/** A rollout with the thought that it should have had. */
interface Corrected {
  readonly row: number;
  readonly before: string;
  readonly text: string;
}

/** Of rollouts that begin alike one is enough: what corrects them is the same. */
function distinct(corrected: readonly Corrected[], { records }: Batch): Corrected[] {
  const known = new Map(
    corrected.map((one) => [JSON.stringify([records[one.row]!.prompt, one.before, one.text]), one]),
  );
  return [...known.values()];
}

const solvedThought = ({ solution }: Task, tag: string): string | undefined =>
  solution === undefined ? undefined : cutAt(solution, tag).thought;

async function correctedBy(
  context: StepContext,
  { batch }: Selected,
  cuts: ReadonlyMap<number, ThoughtCut>,
  { corrector, tag }: Corrections,
): Promise<(string | undefined)[]> {
  const { records } = batch;
  if (corrector === undefined) return [...cuts.keys()].map((row) => solvedThought(records[row]!.task, tag));
  const { model, ask, max_tokens } = corrector;
  const written = await new StepHelp(context).write(
    [...cuts].map(([row, { thought }]) => {
      const { task, response, group, index } = records[row]!;
      const { prompt, solution = "", answer = "" } = task;
      return {
        model,
        prompt: fill(ask, { prompt, thought, response, solution, answer }),
        key: ["correction", context.step, group, index],
        ...(max_tokens !== undefined && { max_tokens }),
      };
    }),
  );
  return written.map(({ text }) => (text === "" ? undefined : text));
}

/** One row: after the prompt and what came before the thought, the thought as it should be. */
function rowOf(
  context: StepContext,
  batch: Batch,
  { row, before, text }: Corrected,
  end: string,
): KeptRow | undefined {
  const { policy } = context.session;
  const { tokenizer } = policy;
  const { offsets, values } = batch.trainContext ?? batch.context;
  const prompt = values.slice(offsets[row], offsets[row + 1]);
  const given = tokenizer.encode(before);
  const own = [...tokenizer.encode(text + end), ...(end === "" ? [tokenizer.eos] : [])];
  if (prompt.length + given.length + own.length > policy.context) return undefined;
  const tokens = Int32Array.from(own);
  const unknown = new Float64Array(tokens.length).fill(Number.NaN);
  const record = batch.records[row]!;
  const made = batchOfSamples([
    {
      record: {
        task: record.task,
        arm: record.arm,
        group: record.group,
        index: record.index,
        prompt: record.prompt,
        response: before + text + end,
        finish: "stop",
        source: "dataset",
        use: "train",
      },
      sample: {
        tokens,
        logp_old: unknown,
        logp_sampled: unknown,
        entropy: unknown,
        versions: new Int32Array(tokens.length).fill(-1),
      },
      context: prompt,
      ...(given.length > 0 && { given }),
    },
  ]);
  return {
    batch: made,
    step: context.clock.step,
    group: `${context.step}/${record.group}`,
    terms: [],
    reward: Number.NaN,
    success: outcome.unknown,
    advantages: new Float64Array(made.tokens.length).fill(Number.NaN),
    left: false,
    draws: 0,
  };
}

/** The corrections of a step; rollouts that already thought so teach nothing new and are among them. */
export async function correctionsOf(
  context: StepContext,
  selected: Selected,
  data: Corrections,
): Promise<KeptRow[]> {
  const { batch, scored } = selected;
  const rows = [...batch.records.keys()].filter(
    (row) => data.of === "all" || scored.success[row] === outcome.wrong,
  );
  const cuts = new Map(rows.map((row) => [row, cutAt(batch.records[row]!.response, data.tag)]));
  const texts = await correctedBy(context, selected, cuts, data);
  const corrected = rows.flatMap((row, i): Corrected[] => {
    const text = texts[i];
    return text === undefined ? [] : [{ row, before: cuts.get(row)!.before, text }];
  });
  return distinct(corrected, batch).flatMap(
    (one) => rowOf(context, batch, one, cuts.get(one.row)!.close) ?? [],
  );
}
