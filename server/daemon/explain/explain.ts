/** Answers why a rollout of a run has its advantage: its rows from the store, the rest in a thread of its own. */
import { UserError } from "../../../shared/lib/errors.ts";
import type { ParamsOf, rolloutsWhy } from "../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import type { Why } from "../../../shared/rollouts/why.ts";
import type { RemoteStore } from "../../store/remote.ts";
import { oneAnswer } from "../../lib/threads/oneAnswer.ts";
import type { ExplainAnswer, ExplainTask } from "./explainThread.ts";

/** Of a step with more rollouts the group alone is looked at. */
const mostRollouts = 512;

export async function explain(
  remote: RemoteStore,
  { run, ...which }: ParamsOf<typeof rolloutsWhy>,
): Promise<Why> {
  const { folder, authored } = await remote.call("show", { run });
  return inThread({ folder, authored, rows: await rowsOf(remote, run, which), which });
}

async function rowsOf(
  remote: RemoteStore,
  run: string,
  { step, group }: ExplainTask["which"],
): Promise<readonly RolloutRow[]> {
  const trained = 'use == "train"';
  const ask = (where: string, tokens: boolean, limit: number) =>
    remote.call("rollouts", { run, step, where, tokens, limit });
  const { total } = await ask(trained, false, 1);
  const where = total > mostRollouts ? `${trained} && group == ${JSON.stringify(group)}` : trained;
  return (await ask(where, true, mostRollouts)).rollouts;
}

async function inThread(question: ExplainTask): Promise<Why> {
  const answer = await oneAnswer<ExplainAnswer>({
    file: "explainThread.mjs",
    name: "gradus-explain",
    does: "explains rollouts",
    question,
  });
  if ("why" in answer) return answer.why;
  throw answer.detail === null ? new Error(answer.error) : new UserError(answer.error, answer.detail);
}
