/**
 * Samples of Inspect (`samples/ID_epoch_N.json` of an `.eval` file, release 0.3) as rollouts that evaluate: the epochs of a sample
 * are a group. A scorer with several values becomes a term each (`shape/length`).
 */
import { isObject, objectOf, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { toWire, type MaybeNumber, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { saidIn, textOf } from "./messagesText.ts";

export interface InspectTask {
  readonly name: string;
  /** The scorer whose value is the reward; undefined: the first. */
  readonly scorer: string | undefined;
}

/** undefined: nobody has answered. */
export function inspectRow(sample: JsonObject, task: InspectTask, step: number): RolloutRow | undefined {
  const messages = messagesOf(sample);
  const from = messages.findIndex(({ role }) => role === "assistant");
  if (from < 0) return undefined;
  const id = String(sample["id"] ?? "");
  const error = objectOf(sample["error"])["message"];
  return {
    step,
    group: id,
    index: Number(sample["epoch"] ?? 1) - 1,
    task: {
      env: task.name,
      arm: task.name,
      id,
      data: objectOf(sample["metadata"]),
      ...answerOf(sample["target"]),
    },
    prompt: textOf(
      messages.slice(0, from).map((message) => ({ role: message["role"] ?? "", content: saidIn(message) })),
    ),
    response: messages.slice(from).map(saidIn).join("\n"),
    finish: typeof error === "string" ? "error" : finishOf(sample),
    use: "evaluate",
    ...(typeof error === "string" ? { failed: error } : {}),
    ...rewardsOf(objectOf(sample["scores"]), task.scorer),
  };
}

/** Long texts and pictures lie in `attachments`, where a message names them. */
function messagesOf(sample: JsonObject): JsonObject[] {
  const attachments = objectOf(sample["attachments"]);
  const resolved = (value: Json): Json => {
    if (typeof value === "string") {
      const name = /^attachment:\/\/(\w+)$/.exec(value)?.[1];
      return name === undefined ? value : (attachments[name] ?? value);
    }
    if (Array.isArray(value)) return value.map((one: Json) => resolved(one));
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one)]))
      : value;
  };
  const { messages } = sample;
  return Array.isArray(messages)
    ? messages
        .map((one: Json) => resolved(one))
        .filter(isObject)
        .map(withThoughts)
    : [];
}

/** Its reasoning is a piece of the content, its tools' calls are flat with `function` as their name. */
function withThoughts(message: JsonObject): JsonObject {
  const { content, tool_calls: calls } = message;
  const pieces = Array.isArray(content) ? content.filter(isObject) : [];
  const thought = pieces.flatMap(({ type, reasoning }) =>
    type === "reasoning" && typeof reasoning === "string" ? [reasoning] : [],
  );
  return {
    ...message,
    ...(thought.length === 0 ? {} : { reasoning_content: thought.join("\n") }),
    ...(Array.isArray(calls)
      ? {
          tool_calls: calls
            .filter(isObject)
            .map(({ function: name = "", arguments: given = {} }) => ({ name, arguments: given })),
        }
      : {}),
  };
}

function answerOf(target: Json | undefined): { readonly answer?: string } {
  if (typeof target === "string") return target === "" ? {} : { answer: target };
  return Array.isArray(target) && target.length > 0 ? { answer: target.map(String).join("\n") } : {};
}

/** Why the model stopped, or the limit that the sample ran into. */
function finishOf(sample: JsonObject): "stop" | "length" {
  const { choices } = objectOf(sample["output"]);
  const [first] = Array.isArray(choices) ? choices : [];
  const reason = objectOf(first)["stop_reason"];
  return isObject(sample["limit"] ?? null) || reason === "max_tokens" || reason === "model_length"
    ? "length"
    : "stop";
}

const words: Readonly<Record<string, number>> = {
  C: 1,
  I: 0,
  P: 0.5,
  N: 0,
  yes: 1,
  no: 0,
  true: 1,
  false: 0,
};

/** As Inspect's own metrics read a value. */
function numberOf(value: Json | undefined): MaybeNumber {
  if (typeof value === "number") return toWire(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string") return null;
  const known =
    words[value] ?? words[value.toLowerCase()] ?? (value.trim() === "" ? Number.NaN : Number(value));
  return Number.isNaN(known) ? null : known;
}

function rewardsOf(
  scores: JsonObject,
  scorer: string | undefined,
): Pick<RolloutRow, "rewards" | "weights" | "reward"> {
  const rewards: Record<string, MaybeNumber> = {};
  for (const [name, score] of Object.entries(scores)) {
    const { value } = objectOf(score);
    if (isObject(value))
      for (const [key, one] of Object.entries(value)) rewards[`${name}/${key}`] = numberOf(one);
    else rewards[name] = numberOf(value);
  }
  const terms = Object.keys(rewards);
  const counted =
    terms.find((term) => term === scorer) ?? terms.find((term) => term.startsWith(`${scorer}/`)) ?? terms[0];
  return {
    rewards,
    weights: Object.fromEntries(terms.map((term) => [term, term === counted ? 1 : 0])),
    reward: counted === undefined ? null : (rewards[counted] ?? null),
  };
}
