/** What tells runs of one config apart, in a few words: "lr 3e-6 · group 16 · seed 2". Pure. */
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { plainNumber } from "../../../shared/run/comparisonText.ts";
import { segments } from "../../config/address.ts";
import { isObject } from "../evidence/json.ts";
import { treeDifferences, type TreeDifference } from "./configDifference.ts";

/** Parts shown; the rest is counted. */
const most = 3;

/** Keys that tell nothing of what is tried: how long, how often, where. */
const quiet = /^(name|evaluation|checkpoint|engine|logging|scheduler)(\.|$)/;

/** As a person writes it: 3e-6, 0.04, [1, 8], off. */
export function valueText(value: Json | undefined): string {
  if (value === undefined) return "–";
  if (typeof value === "number") return plainNumber(value);
  if (typeof value === "string") return value.split("/").at(-1) ?? value;
  if (value === null || typeof value === "boolean")
    return value === true ? "on" : value === false ? "off" : "none";
  if (Array.isArray(value))
    return value.length > 4 ? `${value.length} items` : `[${value.map(valueText).join(", ")}]`;
  const use = isObject(value) ? (value["use"] ?? value["schedule"]) : undefined;
  return typeof use === "string" ? use : "{…}";
}

/** `update.optimizer.lr` → lr; `reward.terms.brevity.weight` → brevity weight; `advantage.baseline.use` → baseline. */
export function keyText(path: string): string {
  const parts = segments(path).filter((part) => part !== "use");
  const last = parts.at(-1) ?? path;
  const owner = parts.at(-2);
  const generic = [
    "weight",
    "steps",
    "coefficient",
    "low",
    "high",
    "alpha",
    "temperature",
    "lengths",
    "numbers",
  ];
  return owner !== undefined && generic.includes(last) && parts.length > 2 ? `${owner} ${last}` : last;
}

const partText = ({ path, values }: TreeDifference): string => {
  const [first, own] = values;
  if (first === undefined && isObject(own)) return `+${keyText(path)}`;
  return own === undefined ? `no ${keyText(path)}` : `${keyText(path)} ${valueText(own)}`;
};

/**
 * @param own the resolved config
 * @param first of the run that it is told from
 * @returns empty where they say the same
 */
export function runLabel(own: JsonObject, first: JsonObject): string {
  const all = treeDifferences([first, own]);
  const seed = all.find(({ path }) => path === "seed");
  const others = partsText(all.filter(({ path }) => path !== "seed" && path !== "name"));
  return [others, seed === undefined ? "" : partText(seed)].filter((part) => part !== "").join(" · ");
}

/** The second of two values of each key. */
export function partsText(all: readonly TreeDifference[]): string {
  const telling = all.filter(({ path }) => !quiet.test(path));
  const shown = (telling.length === 0 ? all : telling).map(partText);
  const more = shown.length > most ? [`${shown.length - most} more`] : [];
  return [...shown.slice(0, most), ...more].join(" · ");
}
