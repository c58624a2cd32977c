/** OmegaConf's `${…}`: other keys, environment variables and defaults. */
import type { Json } from "../../../shared/lib/json.ts";
import { valueOf } from "./values.ts";

const deepest = 12;

/** The value of an environment variable, given the default next to it. */
type EnvironmentLookup = (name: string, fallback: Json | undefined) => Json | undefined;

/**
 * @param lookup the value of a dotted key, itself maybe an interpolation; undefined where it cannot be known
 * @param environment default: every variable is unknown
 */
export function interpolated(
  value: Json | undefined,
  key: string,
  lookup: (key: string) => Json | undefined,
  environment: EnvironmentLookup = () => undefined,
  depth = 0,
): Json | undefined {
  if (typeof value !== "string" || !value.includes("${")) return value;
  if (depth > deepest) return undefined;
  const one = (inside: string): Json | undefined => {
    const [, resolver, rest = inside] = /^([a-z_.]+):(.*)$/s.exec(inside) ?? [];
    const [name = "", ...others] = rest.split(",");
    const fallback = others.length === 0 ? undefined : valueOf(others.join(","));
    if (resolver === "oc.env") return environment(name.trim(), fallback);
    if (resolver !== undefined && resolver !== "oc.select") return undefined;
    const target = absolute(name.trim(), key);
    const found = interpolated(lookup(target), target, lookup, environment, depth + 1);
    return found === undefined || found === null ? (fallback ?? found) : found;
  };
  const whole = /^\$\{([^${}]*)\}$/.exec(value);
  if (whole !== null) return one(whole[1]!);
  let known = true;
  const text = value.replace(/\$\{([^${}]*)\}/g, (_, inside: string) => {
    const found = one(inside);
    known &&= found !== undefined;
    return typeof found === "object" ? JSON.stringify(found) : String(found);
  });
  return known && !text.includes("${") ? text : undefined;
}

/** The only key that a value refers to. */
export const referenced = (value: Json | undefined, key: string): string | undefined => {
  const match = typeof value === "string" ? /^\$\{(?:oc\.select:)?([\w.]+)(?:,[^{}]*)?\}$/.exec(value) : null;
  return match === null ? undefined : absolute(match[1]!, key);
};

/** `.x` is a sibling, `..x` is one section up. */
function absolute(name: string, key: string): string {
  const dots = /^\.+/.exec(name)?.[0].length ?? 0;
  if (dots === 0) return name;
  const above = key.split(".").slice(0, -dots);
  return [...above, name.slice(dots)].join(".");
}
