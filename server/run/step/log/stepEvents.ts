/** What happened in a step, as events of the log. */
import { starvation } from "../../../algorithm/curriculum/curriculumFaults.ts";
import { scoringErrors } from "../../../algorithm/rewards/scoring.ts";
import { byHarness } from "../../../core/config/shapeFacts.ts";
import { isEarlierPart, type Batch } from "../../../core/rollouts.ts";
import { plural } from "../../../../shared/lib/format.ts";
import type { StepFailure } from "../../loop/failedSteps.ts";
import type { Selected, StepContext } from "../context.ts";

/** Episodes that could not be played to their ends: each message once. @returns the first */
function recordFailures(
  { session, stage, step }: StepContext,
  { rows, records }: Batch,
): StepFailure | undefined {
  const harness = byHarness(stage.config.body.rollout);
  const counts = new Map<string, number>();
  for (const { failed } of records)
    if (failed !== undefined) counts.set(failed, (counts.get(failed) ?? 0) + 1);
  for (const [message, count] of counts) {
    const all = count === rows;
    session.recorder.event(
      all ? "error" : "warning",
      "episode-failed",
      `${all ? "Every episode of the step" : plural(count, "episode")} failed: ${message}.`,
      {
        step,
        action: all
          ? `This step trains nothing. Stop the run, fix ${harness ? "the program that `rollout.command` runs" : "the environment or the tool"}, then resume.`
          : "What failed has no reward and does not train; the rest of its group does.",
        data: { count },
      },
    );
  }
  const [message] = counts.keys();
  return message === undefined ? undefined : { what: harness ? "harness" : "environment", message };
}

/** Each message once a step, with how often it came. */
function recordErrors(context: StepContext, { scored, batch }: Selected): void {
  const { session, step } = context;
  const counts = new Map<string, number>();
  for (const { term, row, message } of scoringErrors(scored.rewards.terms)) {
    if (batch.records[row]!.failed !== undefined) continue;
    const text = `Reward term ${term} failed: ${message}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const broken = recordFailures(context, batch);
  const allFailed =
    batch.rows > 0 &&
    scored.combined.errored.every((errored, row) => errored === 1 || isEarlierPart(batch.records[row]!));
  const [message] = counts.keys();
  const failure = message === undefined ? broken : { what: "reward" as const, message };
  session.failed.observe(step, allFailed ? failure : undefined);
  for (const [text, count] of counts) {
    const all = count === batch.rows;
    const which = all ? " (every rollout of the step)" : count === 1 ? "" : ` (${count} rollouts)`;
    session.recorder.event(all ? "error" : "warning", "reward-error", `${text}${which}`, {
      step,
      action: all
        ? "If the term has a weight, this step trains nothing. Stop the run, fix the reward, then start again or resume."
        : "The rollout was left out of its group. Fix the reward, then start again or resume.",
      data: { count },
    });
  }
}

/** Now and then, and whenever nothing is left to train on: a starved run says so in every step. */
function recordStarvation(
  { session, stage, step, clock }: StepContext,
  { groups, verdicts, admitted }: Selected,
): void {
  if (admitted.length > 0 && clock.stageStep % 10 !== 0) return;
  const starved = starvation(groups, verdicts, stage.config.body.rollout.prompts);
  if (starved !== null)
    session.recorder.event("warning", "starved", starved.message, { step, action: starved.action });
}

function recordFaults({ session, stage, step }: StepContext): void {
  for (const { code, message, action } of stage.curriculum.faults())
    session.recorder.event("warning", code, message, { step, action });
}

/** What has happened to the curriculum, so that later runs can follow it. */
function recordNews({ session, stage, step }: StepContext): void {
  for (const { name, message, data } of stage.curriculum.events())
    session.recorder.event("info", name, message, { step, ...(data === undefined ? {} : { data }) });
}

/** What went wrong in the step, and what has happened to the curriculum. */
export function recordEvents(context: StepContext, selected: Selected): void {
  recordErrors(context, selected);
  recordStarvation(context, selected);
  recordFaults(context);
  recordNews(context);
}
