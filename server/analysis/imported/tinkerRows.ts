/**
 * Rollouts of tinker-cookbook (0.6): a line of `…_rollout_summaries.jsonl` has a rollout's rewards and lengths, and the logtree of
 * the same iteration what was asked and said, of some groups. Nothing names a group in both: their turns' numbers do.
 */
import { isObject, objectOf, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { wireOf, type RolloutRow, type WireNumber } from "../../../shared/rollouts/rollouts.ts";
import { saidIn, textOf } from "./messagesText.ts";
import { taskId } from "./taskId.ts";

interface Said {
  readonly prompt: string;
  readonly response: string;
}

/** @param tree the logtree's root; undefined: there is none */
export function tinkerRows(
  lines: readonly JsonObject[],
  tree: Json | undefined,
  step: number,
  use: "train" | "evaluate",
): RolloutRow[] {
  const groups = new Map<string, JsonObject[]>();
  for (const line of lines) {
    const group = String(line["group_idx"] ?? 0);
    groups.set(group, [...(groups.get(group) ?? []), line]);
  }
  const logged = sectionsOf(tree, "Group Rollout");
  return [...groups].flatMap(([group, members]) => {
    const own = logged.findIndex((section) => sameTurns(section, members));
    const said = own < 0 ? undefined : saidOf(logged.splice(own, 1)[0]!, members);
    return members.map((line, at) =>
      rowOf(line, said?.[at], { step, group: groupName(line, group), index: at }, use),
    );
  });
}

/** Of several evaluations in one iteration each has its own groups. */
function groupName(line: JsonObject, group: string): string {
  const split = String(line["split"] ?? "train");
  return split === "train" ? group : `${split}/${group}`;
}

function rowOf(
  line: JsonObject,
  said: Said | undefined,
  place: Pick<RolloutRow, "step" | "group" | "index">,
  use: "train" | "evaluate",
): RolloutRow {
  const [tag = "tinker"] = listOf(line["tags"]).filter((one) => typeof one === "string");
  const version = line["sampling_client_step"];
  const numbers = numbersOf(line);
  return {
    ...place,
    task: { env: tag, arm: tag, id: said === undefined ? place.group : taskId(said.prompt) },
    ...(said === undefined ? {} : said),
    use,
    rewards: { reward: wireOf(line["total_reward"]) },
    ...(Object.keys(numbers).length === 0 ? {} : { components: { reward: numbers } }),
    reward: wireOf(line["total_reward"]),
    ...(use === "train" ? { admitted: true } : {}),
    ...(Number.isInteger(version) ? { policy: { start: Number(version), end: Number(version) } } : {}),
  };
}

/** What the environment said of the last turn, and of the episode. */
function numbersOf(line: JsonObject): Record<string, WireNumber> {
  const last = objectOf(stepsOf(line).at(-1)?.["metrics"]);
  return Object.fromEntries(
    Object.entries({ ...last, ...objectOf(line["trajectory_metrics"]) }).flatMap(([name, value]) => {
      const number = wireOf(value);
      return number === null ? [] : [[name, number] as const];
    }),
  );
}

/** Lengths and rewards of each turn of each rollout, as the logtree prints them. */
function sameTurns(section: Json, members: readonly JsonObject[]): boolean {
  const printed = sectionsOf(section, /^Turn \d+$/).map((turn) => {
    const cells = cellsOf(turn);
    return `${cells["ob_len"]} ${cells["ac_len"]} ${cells["step_reward"]}`;
  });
  const summed = members
    .flatMap(stepsOf)
    .map(({ ob_len, ac_len, reward }) => `${String(ob_len)} ${String(ac_len)} ${Number(reward).toFixed(3)}`);
  return printed.length > 0 && printed.join("\n") === summed.join("\n");
}

/**
 * What a group's rollouts of one turn said. They are logged as they end, so the reward says which is which: of those with the same
 * reward the order is kept. undefined: the environment logs otherwise.
 */
function saidOf(section: Json, members: readonly JsonObject[]): readonly Said[] | undefined {
  const titled = (title: string): Json[] => sectionsOf(section, title);
  const [prompts, responses, rewards] = [titled("Prompt"), titled("Policy Response"), titled("Reward")];
  if (responses.length !== members.length || prompts.length !== members.length) return undefined;
  const left = responses.map((response, at) => ({
    prompt: textOf(
      messagesOf(prompts[at]).map((one) => ({ role: one["role"] ?? "", content: partsText(one) })),
    ),
    response: messagesOf(response).map(partsText).join("\n"),
    reward: cellsOf(rewards[at])["reward"],
  }));
  const found = members.map((line) => {
    const sum = stepsOf(line).reduce((total, { reward }) => total + Number(reward), 0);
    const own = left.findIndex(({ reward }) => reward === undefined || reward === sum.toFixed(3));
    return own < 0 ? undefined : left.splice(own, 1)[0];
  });
  const all = found.filter((one) => one !== undefined);
  return all.length === members.length
    ? all.map(({ prompt, response }) => ({ prompt, response }))
    : undefined;
}

/** Its pieces may be thoughts (`thinking`). */
function partsText(message: JsonObject): string {
  const pieces = listOf(message["content"]).filter(isObject);
  const thoughts = pieces.flatMap(({ thinking }) => (typeof thinking === "string" ? [thinking] : []));
  return saidIn(thoughts.length === 0 ? message : { ...message, reasoning_content: thoughts.join("\n") });
}

/** The conversation of a section. */
function messagesOf(section: Json | undefined): JsonObject[] {
  for (const node of nodesOf(section)) {
    const { type, messages } = objectOf(node["data"]);
    if (type === "conversation") return listOf(messages).filter(isObject);
  }
  return [];
}

/** Sections by their headings, in their order; those within one of them are of it. */
function sectionsOf(tree: Json | undefined, title: string | RegExp): Json[] {
  if (!isObject(tree ?? null)) return [];
  const node = objectOf(tree);
  const children = listOf(node["children"]);
  const [heading] = listOf(objectOf(children[0])["children"]);
  const named =
    node["tag"] === "section" &&
    typeof heading === "string" &&
    (typeof title === "string" ? heading === title : title.test(heading));
  return named ? [node] : children.flatMap((child) => sectionsOf(child, title));
}

function* nodesOf(tree: Json | undefined): Generator<JsonObject> {
  if (!isObject(tree ?? null)) return;
  const node = objectOf(tree);
  yield node;
  for (const child of listOf(node["children"])) yield* nodesOf(child);
}

/** The first row of each key in the tables of a section. */
function cellsOf(section: Json | undefined): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const node of nodesOf(section)) {
    if (node["tag"] !== "tr") continue;
    const [key, value] = listOf(node["children"]).map((cell) =>
      String(listOf(objectOf(cell)["children"])[0] ?? ""),
    );
    if (key !== undefined && value !== undefined) found[key] ??= value;
  }
  return found;
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const stepsOf = (line: JsonObject): JsonObject[] => listOf(line["steps"]).filter(isObject);
