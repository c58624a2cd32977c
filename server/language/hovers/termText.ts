/** What a reward term is: its method or file, its weight, the tasks that it scores. */
import { basename } from "node:path";
import { fileReference } from "../../config/check/method.ts";
import { child, textOf, toJson, type SourceNode } from "../../config/text/node.ts";
import { methodOf } from "../../methods/index.ts";
import type { Step } from "../spot.ts";

/** The name of the term whose key a path leads to; undefined for every other path. */
export const termAt = (path: readonly Step[]): string | undefined => {
  const [reward, terms, name] = path.slice(-3);
  const whole = path.length === 3 || (path[0] === "stages" && path.length === 5);
  return whole && reward === "reward" && terms === "terms" && typeof name === "string" ? name : undefined;
};

/** @param places the term as the file has it and as it resolves: the first that says something counts */
export function termText(name: string, places: readonly (SourceNode | undefined)[]): string {
  const say = (key: string): SourceNode | undefined =>
    places.map((node) => child(node, key)).find((node) => node !== undefined);
  const use = places
    .map((node) => textOf(node) ?? textOf(child(node, "use")))
    .find((text) => text !== undefined);
  const [weight, tasks] = [say("weight"), say("tasks")];
  const facts = [
    use === undefined ? "a reward term" : kindOf(use),
    `weight ${weight === undefined ? "1" : weightText(weight)}`,
    ...(tasks?.kind === "list"
      ? [`for ${tasks.items.map((item) => textOf(item) ?? "…").join(", ")} only`]
      : []),
  ];
  return `**${name}**: ${facts.join("; ")}.`;
}

function kindOf(use: string): string {
  const reference = fileReference(use);
  if (reference !== undefined) {
    const made = reference.export === undefined ? "the default export" : `\`${reference.export}\``;
    return `${made} of \`${basename(reference.path)}\``;
  }
  const summary = methodOf("reward", use)?.summary;
  return summary === undefined ? `\`${use}\`` : `\`${use}\` (${summary.replace(/\.$/, "")})`;
}

function weightText(node: SourceNode): string {
  if (node.kind === "scalar") return String(node.value);
  const at = (key: string): string => JSON.stringify(toJson(child(node, key) ?? node));
  return `from ${at("from")} to ${at("to")} over ${at("over")} steps (${textOf(child(node, "schedule")) ?? "schedule"})`;
}
