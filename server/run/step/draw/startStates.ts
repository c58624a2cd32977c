/** Where the rollouts of drawn tasks begin, and what start states learn of how they ended. */
import type { DrawnTask } from "../../../algorithm/curriculum/draws.ts";
import { outcome } from "../../../algorithm/rewards/rewards.ts";
import { rowsOfEpisodes } from "../../../core/rows/parts.ts";
import { randomStream } from "../../../lib/random.ts";
import type { StartState, EpisodeState, Finished } from "../../../core/slots/guidance.ts";
import { origin, type Batch, type Group } from "../../../core/rollouts.ts";
import { tokensOf } from "../generate/assemble.ts";
import type { Selected, StepContext } from "../context.ts";
import { StepHelp } from "../help/stepHelp.ts";
import { asked } from "../generate/prompts.ts";

/** @param round counts the refills of the step */
export async function startedGroups(
  context: StepContext,
  drawn: readonly DrawnTask[],
  round: number,
): Promise<readonly (StartState & Pick<DrawnTask, "rollouts">)[]> {
  const { session, stage, step } = context;
  const help = new StepHelp(context);
  const random = randomStream(session.config.seed, "start", step, round);
  const wanted = drawn.map((one, i) => ({ ...one, key: ["start", step, round, i] }));
  const all = await stage.start.begin(wanted, Object.assign(help, { random }));
  const fitting = all.map((one) => (fits(context, one) ? one : { task: one.task, arm: one.arm }));
  const over = fitting.filter((one, i) => one !== all[i]).length;
  if (over > 0)
    session.recorder.event(
      "warning",
      "no-help",
      `curriculum.start: ${over} ${over === 1 ? "group starts" : "groups start"} at the prompt: their start state and the prompt together fill the model's context.`,
      {
        step,
        action: "Use shorter start states, or choose a model with a longer context.",
        data: { count: over },
      },
    );
  return fitting.map((one, i) => {
    const { rollouts } = drawn[i]!;
    return rollouts === undefined ? one : { ...one, rollouts };
  });
}

function fits(
  { session: { policy }, stage }: StepContext,
  { task, lead = [], prompt = task.prompt, state }: StartState,
): boolean {
  const { tokens, prefix } = asked(policy.tokenizer, { ...task, prompt }, stage.config.body.rollout);
  const started = [...lead.map(tokensOf), ...(state?.turns.map((turn) => turn.tokens) ?? [])];
  const given = started.reduce((sum, tokens) => sum + tokens.length, 0);
  // A bare prompt that is too long is another error.
  return given === 0 || tokens.length + (prefix?.length ?? 0) + given < policy.context;
}

/** The turns of an episode's rows up to its last reply, where it had several attempts. */
function episodeOf(
  { offsets, tokens, records }: Batch,
  rows: readonly number[],
): { readonly episode?: EpisodeState } {
  const { tries, failed, played } = records[rows.at(-1)!]!;
  const turns = rows.flatMap((row) => {
    const { turns: own = [], answered } = records[row]!;
    const said = answered === undefined ? own : [...own, { ...answered, start: 0, end: 0 }];
    return said.map(({ text = "", start, end, ...turn }) => ({
      ...turn,
      text,
      tokens: tokens.slice(offsets[row]! + start, offsets[row]! + end),
    }));
  });
  // An environment that cannot tell where it stands cannot go on from there.
  const last = turns.findLastIndex(
    ({ role, state }) => role !== "assistant" && (played?.environment !== true || state !== undefined),
  );
  if (tries === undefined || failed !== undefined || last < 0) return {};
  return { episode: { turns: turns.slice(0, last + 1), tries } };
}

/** Once a step, after the curriculum has observed it. */
export function observeStarts(
  { stage, clock }: StepContext,
  { batch, scored }: Selected,
  groups: readonly Group[],
): void {
  if (stage.start.observe === undefined) return;
  const episodes = rowsOfEpisodes(batch);
  const finished = groups.map((group, number): Finished => ({
    ...group,
    rollouts: episodes
      .filter(([row]) => batch.group[row!] === number)
      .map((rows) => {
        const row = rows.at(-1)!;
        const [from, to] = [batch.offsets[row]!, batch.offsets[row + 1]!];
        let first = from;
        while (first < to && batch.origin[first] !== origin.written) first += 1;
        return {
          tokens: batch.tokens.slice(first, to),
          entropy: batch.columns.entropy?.slice(first, to) ?? new Float64Array(to - first).fill(Number.NaN),
          success: scored.success[row] === outcome.right,
          prefilled: batch.records[row]!.help !== undefined,
          ...episodeOf(batch, rows),
        };
      }),
  }));
  stage.start.observe(finished, clock);
}
