/**
 * Traces of trackio: messages in OpenAI's form, and what their writer says of them. TRL's asynchronous GRPO writes the reward, its
 * functions (`rewards/…`), the advantage, the group and the number of the weights (`log_rollout_traces`, TRL 1.16).
 */
import { isObject, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { wireOf, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { saidIn, textOf } from "./messagesText.ts";
import { taskId } from "./taskId.ts";

export interface Trace {
  readonly id: string;
  /** By which it was logged. */
  readonly key: string;
  readonly messages: readonly Json[];
  readonly metadata: JsonObject;
}

const term = /^rewards\/(.+)$/;
const own = new Set(["reward", "reward_std", "advantage", "group_id", "model_version"]);

/** Traces of one step, in the order in which they were logged; what nobody answered is left out. */
export function traceRows(traces: readonly Trace[], step: number): RolloutRow[] {
  const members = new Map<string, number>();
  return traces.flatMap((trace) => {
    const messages = trace.messages.filter(isObject);
    const from = messages.findIndex(({ role }) => role === "assistant");
    if (from < 0) return [];
    const id = trace.metadata["group_id"];
    // Without one it is in no group: nothing says whom it may be compared with.
    const group = typeof id === "number" || typeof id === "string" ? String(id) : trace.id;
    const index = members.get(group) ?? 0;
    members.set(group, index + 1);
    return rowOf(trace, messages, from, { step, group, index });
  });
}

function rowOf(
  { key, metadata }: Trace,
  messages: readonly JsonObject[],
  from: number,
  place: Pick<RolloutRow, "step" | "group" | "index">,
): RolloutRow {
  const asked = messages.slice(0, from);
  const prompt = textOf(asked.map((message) => ({ role: message["role"] ?? "", content: saidIn(message) })));
  const entries = Object.entries(metadata);
  const rewards = Object.fromEntries(
    entries.flatMap(([name, value]) => {
      const found = term.exec(name)?.[1];
      return found === undefined ? [] : [[found, wireOf(value)] as const];
    }),
  );
  const version = metadata["model_version"];
  return {
    ...place,
    task: {
      env: "trackio",
      arm: key,
      id: taskId(prompt),
      data: Object.fromEntries(entries.filter(([name]) => !own.has(name) && !term.test(name))),
    },
    prompt,
    response: messages.slice(from).map(saidIn).join("\n"),
    use: /^(eval|val|test)/i.test(key) ? "evaluate" : "train",
    rewards,
    reward: wireOf(metadata["reward"]),
    advantage: wireOf(metadata["advantage"]),
    ...(Number.isInteger(version) ? { policy: { start: Number(version), end: Number(version) } } : {}),
  };
}
