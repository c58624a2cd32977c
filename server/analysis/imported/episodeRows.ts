/**
 * Episodes of prime-rl and verifiers (`vf.Episode` of verifiers 0.4, as its `to_record` writes them): an object with the task, the group, the
 * step and the weights of an episode, and a trace for each agent. A trace is a graph of messages; its last branch is the rollout.
 */
import { isObject, objectOf, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { toWire, type MaybeNumber, type RolloutRow } from "../../../shared/rollouts/rollouts.ts";
import { saidIn, textOf } from "./messagesText.ts";

interface Node {
  readonly parent: number | null;
  readonly message: JsonObject;
  readonly sampled: boolean;
  readonly tokens: readonly number[];
  readonly mask: readonly boolean[];
  /** Of the sampled tokens alone. */
  readonly logprobs: readonly number[];
  readonly advantages: readonly number[] | undefined;
}

/**
 * Rollouts of one step and use; agents that do not train are left out.
 * @param lines the episodes, in the order of the file
 * @param members how many rollouts each group has already; it is brought up to date
 */
export function episodeRows(
  lines: readonly JsonObject[],
  step: number,
  use: "train" | "evaluate",
  members = new Map<string, number>(),
): RolloutRow[] {
  return lines.flatMap((episode) => {
    const traces = listOf(episode["traces"])
      .filter(isObject)
      .filter((trace) => objectOf(trace["agent"])["trainable"] !== false);
    const agents = new Set(traces.map(agentOf));
    return traces.flatMap((trace) => {
      const of = groupOf(episode, use);
      // What one agent does is not compared with what another does.
      const group = agents.size > 1 ? `${of}/${agentOf(trace)}` : of;
      const index = members.get(group) ?? 0;
      const row = rowOf(episode, trace, { step, group, index }, use);
      if (row !== undefined) members.set(group, index + 1);
      return row ?? [];
    });
  });
}

/** What evaluates without a group is compared with the other answers to its task. */
function groupOf(episode: JsonObject, use: "train" | "evaluate"): string {
  const task = objectOf(episode["task"]);
  const asked = use === "evaluate" ? (textIn(task, "key") ?? textIn(task, "hash")) : undefined;
  return textIn(objectOf(episode["group"]), "id") ?? asked ?? textIn(episode, "id") ?? "";
}

const agentOf = (trace: JsonObject): string => textIn(objectOf(trace["agent"]), "name") ?? "agent";

/** undefined: nothing was said. */
function rowOf(
  episode: JsonObject,
  trace: JsonObject,
  place: Pick<RolloutRow, "step" | "group" | "index">,
  use: "train" | "evaluate",
): RolloutRow | undefined {
  const path = lastBranch(listOf(trace["nodes"]).map(nodeOf));
  const from = path.findIndex(({ sampled }) => sampled);
  if (from < 0) return undefined;
  const [asked, said] = [path.slice(0, from), path.slice(from)];
  const env = objectOf(episode["env"]);
  const name = textIn(env, "name") ?? textIn(env, "id") ?? "verifiers";
  const task = objectOf(episode["task"]);
  const policy = policyOf(episode);
  return {
    ...place,
    task: {
      env: name,
      arm: name,
      id: textIn(task, "key") ?? textIn(task, "hash") ?? place.group,
      data: objectOf(task["data"]),
    },
    prompt: textOf(asked.map(({ message }) => ({ role: message["role"] ?? "", content: saidIn(message) }))),
    response: said.map(({ message }) => saidIn(message)).join("\n"),
    finish: finishOf(trace),
    use,
    ...rewardsOf(trace),
    ...(use === "train" ? { admitted: true } : {}),
    ...(policy === undefined ? {} : { policy }),
    ...tokensOf(asked, said, policy),
  };
}

function nodeOf(value: Json): Node {
  const node = isObject(value) ? value : {};
  const { parent, advantages } = node;
  return {
    parent: typeof parent === "number" ? parent : null,
    message: objectOf(node["message"]),
    sampled: node["sampled"] === true,
    tokens: numbersOf(node["token_ids"]),
    mask: listOf(node["mask"]).map((one) => one === true),
    logprobs: numbersOf(node["logprobs"]),
    advantages: Array.isArray(advantages) ? numbersOf(advantages) : undefined,
  };
}

/** From the root to the node that was added last. */
function lastBranch(nodes: readonly Node[]): Node[] {
  const path: Node[] = [];
  // A parent comes before its children: what does not is no graph, and ends it.
  for (let at = nodes.length - 1; at >= 0;) {
    path.unshift(nodes[at]!);
    const parent = nodes[at]!.parent ?? -1;
    at = parent < at ? parent : -1;
  }
  return path;
}

const limits = new Set([
  "max_turns",
  "max_input_tokens",
  "max_output_tokens",
  "max_total_tokens",
  "context_length",
]);
function finishOf(trace: JsonObject): "stop" | "length" | "error" {
  const calls = listOf(trace["calls"]).filter(isObject);
  const last = calls.findLast((call) => (call["error"] ?? null) === null);
  if (limits.has(textIn(trace, "stop_condition") ?? "") || last?.["finish_reason"] === "length")
    return "length";
  return trace["ok"] === false ? "error" : "stop";
}

/** `reward` is the sum of what was scored, each times its weight; null where nothing was. */
function rewardsOf(trace: JsonObject): Pick<RolloutRow, "rewards" | "weights" | "reward"> {
  const rewards: Record<string, MaybeNumber> = {};
  const weights: Record<string, number> = {};
  let reward: number | null = null;
  for (const [term, value] of Object.entries(objectOf(trace["rewards"]))) {
    const { score, weight = 1 } = objectOf(value);
    rewards[term] = typeof score === "number" ? toWire(score) : null;
    if (typeof score !== "number" || typeof weight !== "number") continue;
    weights[term] = weight;
    reward = (reward ?? 0) + weight * score;
  }
  return { rewards, weights, reward: reward === null ? null : toWire(reward) };
}

function policyOf(episode: JsonObject): RolloutRow["policy"] {
  const { start, end } = objectOf(objectOf(objectOf(episode["run"])["work"])["policy"]);
  return Number.isInteger(start) && Number.isInteger(end)
    ? { start: Number(start), end: Number(end) }
    : undefined;
}

/** Token by token, where the trainer's own client generated; else nothing. */
function tokensOf(
  asked: readonly Node[],
  said: readonly Node[],
  policy: RolloutRow["policy"],
): Partial<RolloutRow> {
  if (said.some(({ tokens, mask }) => tokens.length === 0 || mask.length !== tokens.length)) return {};
  // What the chat template puts in front of the first answer is of the prompt.
  const scaffold = said[0]!.mask.indexOf(true);
  if (scaffold < 0) return {};
  const all = said.flatMap(({ tokens }) => tokens);
  const mask = said.flatMap((node) => node.mask);
  const sampled = mask.slice(scaffold);
  const ends = said.reduce<number[]>(
    (sums, { tokens }) => [...sums, (sums.at(-1) ?? -scaffold) + tokens.length],
    [],
  );
  const advantages = said.every((node) => node.advantages === undefined)
    ? {}
    : { advantages: spread(said, (node) => node.advantages ?? []).slice(scaffold) };
  return {
    context: [...asked.flatMap(({ tokens }) => tokens), ...all.slice(0, scaffold)],
    tokens: all.slice(scaffold),
    origin: sampled.map((one) => (one ? "written" : "observed")),
    mask: sampled.map(Number),
    logp_sampled: spread(said, ({ logprobs }) => logprobs).slice(scaffold),
    ...advantages,
    // In between the weights may have changed at any token.
    ...(policy !== undefined && policy.start === policy.end
      ? { versions: sampled.map((one) => (one ? policy.start : null)) }
      : {}),
    turns: said.map(({ message }, i) => ({
      role: textIn(message, "role") ?? "",
      start: i === 0 ? 0 : ends[i - 1]!,
      end: ends[i]!,
      text: saidIn(message),
    })),
  };
}

/** Values of sampled tokens at their places; null elsewhere. */
const spread = (nodes: readonly Node[], of: (node: Node) => readonly number[]): MaybeNumber[] =>
  nodes.flatMap((node) => {
    const values = of(node);
    let at = 0;
    return node.mask.map((sampled) => {
      const value = sampled ? values[at++] : undefined;
      return value === undefined ? null : toWire(value);
    });
  });

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const numbersOf = (value: Json | undefined): number[] =>
  listOf(value).map((one) => (typeof one === "number" ? one : Number.NaN));
function textIn(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}
