/** Models of the run that write for tasks: what they are asked, and their texts as rollouts that may train them. */
import type { Complete } from "../../../core/slots/generation.ts";
import type { Batch } from "../../../core/rollouts.ts";
import type { Task } from "../../../core/task.ts";
import { namedGroups } from "../../../algorithm/curriculum/namedGroups.ts";
import type { StepContext } from "../context.ts";
import { draftsOf, rollOut } from "../generate/generate.ts";
import { checkRoom, type RequestSender } from "./requestRoom.ts";

type Asked = Parameters<Complete>;

/** Writes so many texts for each request: a batch of a group for each, in their order. */
export type Pen = (requests: Asked[0], how: Asked[1]) => Promise<Batch>;

/** The policy, or another model of the run, as author. What responses must look like (grammar, stop texts) is not asked of a task. */
export function penOf(context: StepContext, key: readonly (string | number)[], who: RequestSender): Pen {
  const { session, stage, step, watch } = context;
  const { part, model } = who;
  // The reference is a snapshot of the policy's own engine.
  const own = model === undefined || session.policy.snapshots.includes(model);
  const writer = own ? session.policy : session.models.get(model);
  let asked = 0;
  return async (requests, { samples, max_tokens, temperature }) => {
    const tasks = requests.map((prompt, i): Task => ({
      id: `request-${i}`,
      source: "author",
      env: "author",
      prompt,
      data: {},
    }));
    const groups = namedGroups(
      tasks.map((task) => ({ task, arm: "author" })),
      new Set(),
    );
    const { chat, system } = stage.config.body.rollout;
    checkRoom(tasks, writer, { chat, system }, who);
    const purpose = [...key, part, "write", asked++, step];
    const drafts = draftsOf(groups, samples, writer, purpose, "estimate", { chat, system });
    const between = (): Promise<void> => watch.without(session.between);
    const { seed } = session.config;
    const as = own && model !== undefined ? { model } : {};
    const decode = { max_tokens, temperature, seed, signal: session.signal, between, ...as };
    return watch.time("generate", () => rollOut(writer, drafts, decode));
  };
}

/** @param keep takes each batch of texts */
export const completing =
  (pen: Pen, keep?: (batch: Batch) => void): Complete =>
  async (requests, how) => {
    if (requests.length === 0) return [];
    const batch = await pen(requests, how);
    keep?.(batch);
    return requests.map((_, i) =>
      batch.records.slice(i * how.samples, (i + 1) * how.samples).map(({ response }) => response),
    );
  };
