/** The defaults of keys. */
import { defaultOrigin } from "../config/check/check.ts";
import { defaults, klDefaults, taskDefaults, termDefaults } from "../config/grammar/defaults.ts";
import { child, fromJson, type SourceNode } from "../config/text/node.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { Step } from "./spot.ts";

const tree = (json: JsonObject): SourceNode => fromJson(json, defaultOrigin);
const top = tree(defaults);
/** Of the items of lists and maps of names: which begin where, and how many steps they are deep. */
const items: readonly (readonly [readonly string[], SourceNode])[] = [
  [["kl"], tree(klDefaults)],
  [["tasks"], tree(taskDefaults)],
  [["reward", "terms"], tree(termDefaults)],
];

/** A stage inherits the top level's. */
export function usualAt(path: readonly Step[]): SourceNode | undefined {
  const own = path[0] === "stages" ? path.slice(2) : path;
  const item = items.find(
    ([start]) => own.length > start.length && start.every((step, at) => own[at] === step),
  );
  const [from, rest] = item === undefined ? [top, own] : [item[1], own.slice(item[0].length + 1)];
  return rest.reduce<SourceNode | undefined>((node, step) => child(node, String(step)), from);
}
