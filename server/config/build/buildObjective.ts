/** The `objective` block of a checked tree: the loss, what stands beside it, its normaliser, corrections, entropy bonus. */
import { entropySchema } from "../../core/blocks/objective.ts";
import type { Scheduled } from "../../core/schedule.ts";
import { child, join } from "../text/node.ts";
import { isObject, type Reader } from "./reader.ts";
import type { StageBody } from "../../core/config/resolved.ts";

type ObjectiveConfig = StageBody["objective"];

export function buildObjective(reader: Reader): ObjectiveConfig {
  const number = (...path: readonly string[]): Scheduled =>
    reader.scheduled(reader.json("objective", ...path), reader.node("objective", ...path));
  return {
    loss: reader.choice("objective", "objective"),
    factor: reader.json("objective", "factor") === undefined ? 1 : number("factor"),
    also: buildAlso(reader),
    value:
      reader.json("objective", "value") === undefined
        ? undefined
        : {
            loss: reader.choice("objective", "objective.value"),
            coefficient: number("value", "coefficient"),
          },
    aggregate: reader.choice("aggregate", "objective.aggregate"),
    correction: reader.paths("objective", "correction").map((path) => reader.choice("correction", path)),
    entropy: buildEntropy(reader),
  };
}

function buildAlso(reader: Reader): ObjectiveConfig["also"] {
  const list = reader.node("objective", "also");
  const json = reader.json("objective", "also");
  if (list?.kind !== "list" || !Array.isArray(json)) return [];
  return list.items.map((node, index) => {
    const own = json[index];
    return {
      loss: reader.choice("objective", join("objective.also", index)),
      factor: reader.scheduled(isObject(own) ? own["factor"] : undefined, child(node, "factor")),
      of: isObject(own) && own["of"] === "pair" ? "pair" : "policy",
    };
  });
}

function buildEntropy(reader: Reader): ObjectiveConfig["entropy"] {
  const json = reader.json("objective", "entropy");
  const node = reader.node("objective", "entropy");
  if (!isObject(json) || !("coefficient" in json)) return reader.scheduled(json, node);
  const coefficient = reader.scheduled(json["coefficient"], child(node, "coefficient"));
  return { ...entropySchema.parse(json), coefficient };
}
