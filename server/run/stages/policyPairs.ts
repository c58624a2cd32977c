/** Pairs that tell policies apart: of two answers, the one by the model that wrote a reference is the better. */
import { UserError } from "../../../shared/lib/errors.ts";
import { batchOfTexts, textRecord } from "../../core/rows/textRows.ts";
import { readingTokens } from "../../core/rows/reading.ts";
import { withoutEnd } from "../../core/rows/ends.ts";
import { randomStream } from "../../lib/random.ts";
import type { StageConfig } from "../../core/config/stageConfig.ts";
import type { Batch } from "../../core/rollouts.ts";
import type { Prompt, Sample } from "../../core/policy.ts";
import type { Task } from "../../core/task.ts";
import type { StepContext } from "../step/context.ts";
import { stepDecoding } from "../step/generate/decoding.ts";
import { sampled } from "../step/generate/generate.ts";
import { asked } from "../step/generate/prompts.ts";
import { drawnTasks } from "./likelihood.ts";

type PolicyPairs = Exclude<StageConfig["pairs"], string>;

/** What each model is to write: the places of its answers among all of the step. */
interface Wanted {
  readonly task: Task;
  readonly pair: number;
  readonly part: "reference" | "chosen" | "rejected";
}

/** Of each task two models, drawn for it: the first writes the reference and the better answer, the second the worse one. */
function wantedOf(
  context: StepContext,
  tasks: readonly Task[],
  policies: readonly string[],
): Map<string, Wanted[]> {
  const { session, step } = context;
  const random = randomStream(session.config.seed, "policy pairs", step);
  const wanted = new Map(policies.map((name): [string, Wanted[]] => [name, []]));
  tasks.forEach((task, pair) => {
    const first = random.integer(policies.length);
    const second = (first + 1 + random.integer(policies.length - 1)) % policies.length;
    const [own, other] = [wanted.get(policies[first]!)!, wanted.get(policies[second]!)!];
    own.push({ task, pair, part: "reference" }, { task, pair, part: "chosen" });
    other.push({ task, pair, part: "rejected" });
  });
  return wanted;
}

async function writtenBy(context: StepContext, name: string, wanted: readonly Wanted[]): Promise<Sample[]> {
  const { session, stage, step } = context;
  const writer = session.models.get(name);
  const prompts = wanted.map(({ task, pair, part }): Prompt => ({
    ...asked(writer.tokenizer, task, stage.config.body.rollout),
    key: ["policy pairs", step, pair, part],
  }));
  return prompts.length === 0 ? [] : sampled(writer, prompts, stepDecoding(context));
}

/** Two rows a task, the better first, each after the prompt with its reference. */
export async function policyPairs(context: StepContext, { policies, given }: PolicyPairs): Promise<Batch> {
  const { tokenizer } = context.session.policy;
  const tasks = drawnTasks(context);
  const texts = tasks.map((): Partial<Record<Wanted["part"], Sample>> => ({}));
  for (const [name, wanted] of wantedOf(context, tasks, policies)) {
    context.session.signal.throwIfAborted();
    const samples = await writtenBy(context, name, wanted);
    wanted.forEach(({ pair, part }, i) => (texts[pair]![part] = samples[i]!));
  }
  const rows = tasks.flatMap((task, pair) => {
    const { reference, chosen, rejected } = texts[pair]!;
    const shown = tokenizer.decode(withoutEnd(reference!.tokens, tokenizer));
    const before = readingTokens(tokenizer, given, { prompt: task.prompt, reference: shown });
    return [chosen!, rejected!].map(({ tokens }, index) => ({
      context: before,
      tokens,
      record: { ...textRecord(task, pair, tokenizer.decode(tokens)), index, pair: String(pair) },
    }));
  });
  const pair = Int32Array.from(rows, (_, row) => row >> 1);
  return { ...batchOfTexts(rows), group: pair, groups: tasks.length, pair };
}

/** @throws UserError for a row that the model cannot read */
export function checkLengths({ rows, offsets, context, records }: Batch, room: number): void {
  for (let row = 0; row < rows; row++) {
    const length = offsets[row + 1]! - offsets[row]! + context.offsets[row + 1]! - context.offsets[row]!;
    if (length <= room) continue;
    throw new UserError(
      `an answer of task ${records[row]!.task.id} has ${length} tokens with what is read before it, but the model's context is ${room}`,
      { code: "pair-too-long", action: "Shorten the pairs, or choose a model with a longer context." },
    );
  }
}
