/**
 * The `where` expression of runs, in the language of rollouts (lib/where.ts) with other names:
 *
 *   reward/mean@last > 0.4 and config.rollout.group >= 8
 *   status == "failed" || verdict == "collapsed"
 *   tag == "paper" && age < 7d && !(name ~ "^test")
 *   eval/pass@1@max - a metric's last value, or its first, most, least or mean
 *
 * Pure: values of a run are asked for when an expression names them.
 */
import { metrics as knownMetrics } from "../../../shared/metrics/metrics.ts";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import { WhereParser, type Condition, type WhereLanguage, type WhereToken } from "../../lib/where.ts";
import { nearest } from "../../lib/suggest.ts";
import { segments } from "../../config/address.ts";
import { isObject, valueAt } from "../evidence/json.ts";

/** A run as expressions see it. */
export interface RunView {
  readonly fields: Readonly<Record<RunField, string | number | boolean | null>>;
  readonly tags: readonly string[];
  readonly config: () => JsonObject;
  /** Its values step by step; empty: it has no such metric. */
  readonly metric: (name: string) => ArrayLike<number>;
}

const textFields = ["id", "name", "status", "verdict", "note", "file", "stage", "backend", "parent"] as const;
const numberFields = ["seed", "step", "steps", "age", "duration"] as const;
const flagFields = ["pinned", "archived"] as const;
export type RunField =
  | (typeof textFields)[number]
  | (typeof numberFields)[number]
  | (typeof flagFields)[number];

const [minute, hour, day] = [60, 3_600, 86_400];
const units = { min: minute, h: hour, d: day, w: 7 * day, s: 1 };
const timed: ReadonlySet<string> = new Set(["age", "duration"]);

const names = `${[...textFields, "tag", ...numberFields, ...flagFields].join(", ")}, config.<key>, or a metric (reward/mean, eval/pass@1, …) with @first, @last, @max, @min or @mean`;
const language: WhereLanguage = {
  name: String.raw`(?:[\w/@-]|\.(?:"[^"]*")?)*`,
  units,
  comparisons: ["==", "=", "!=", "<", "<=", ">", ">=", "contains", "~"],
  names,
  example: "reward/mean@last > 0.4 and config.rollout.group >= 8",
};

type Test = (run: RunView) => boolean;
type Value = Json | undefined;
type Read = (run: RunView) => Value;
type Kind = "text" | "number" | "flag" | "tag" | "any";

interface Operand {
  readonly read: Read;
  readonly kind: Kind;
}

/** What other trainers and people call our metrics. */
const aliases: ReadonlyMap<string, string> = new Map([
  ...knownMetrics.flatMap(({ name, aliases: others = {} }) =>
    Object.values(others).flatMap((own) => own.map((alias): [string, string] => [alias, name])),
  ),
  ["reward/mean", "reward/total"],
  ["reward/std", "reward/total/std"],
]);
const metricName = (name: string): string => aliases.get(name) ?? name;

/** @throws UserError naming the place and what may be there */
export function compileRunWhere(source: string): Test {
  const parser = new WhereParser<Test>(source, language, comparison);
  return testOf(parser.condition());
}

function testOf(condition: Condition<Test>): Test {
  if (condition.kind === "leaf") return condition.leaf;
  if (condition.kind === "not") {
    const test = testOf(condition.of);
    return (run) => !test(run);
  }
  const tests = condition.of.map(testOf);
  return condition.kind === "all"
    ? (run) => tests.every((test) => test(run))
    : (run) => tests.some((test) => test(run));
}

/** What runs are sorted by: a name of the language. Undefined: the run has no such value. */
export function runKey(source: string): (run: RunView) => string | number | undefined {
  const parser = new WhereParser<Operand>(source, language, (at) => operand(at));
  const condition = parser.condition();
  if (condition.kind !== "leaf" || condition.leaf.kind === "tag")
    throw parser.problem("cannot be sorted by", { kind: "end", value: "", at: 0 });
  const { read } = condition.leaf;
  return (run) => {
    const value = chosen(read(run));
    if (typeof value === "boolean") return Number(value);
    return typeof value === "number" || typeof value === "string" ? value : undefined;
  };
}

function operand(parser: WhereParser<Test> | WhereParser<Operand>): Operand {
  const token = parser.next();
  if (token.kind !== "name") throw parser.problem(`should be one of ${names}`, token);
  const { value } = token;
  const fields: readonly (readonly [readonly RunField[], Kind])[] = [
    [textFields, "text"],
    [numberFields, "number"],
    [flagFields, "flag"],
  ];
  for (const [own, kind] of fields) {
    const field = own.find((one) => one === value);
    if (field !== undefined) return { kind, read: ({ fields: all }) => all[field] };
  }
  if (value === "tag") return { kind: "tag", read: ({ tags }) => tags };
  if (value.startsWith("config.")) {
    const path = segments(value.slice("config.".length));
    return { kind: "any", read: ({ config }) => valueAt(config(), path) };
  }
  if (value.includes("/") || aliases.has(value.replace(summary, ""))) return metricOperand(value);
  const meant = nearest(value, [...textFields, "tag", ...numberFields, ...flagFields]);
  throw parser.problem(`is unknown${meant === undefined ? "" : `; did you mean \`${meant}\``}`, token);
}

const summary = /@(first|last|max|min|mean)$/;

function metricOperand(written: string): Operand {
  const which = summary.exec(written)?.[1] ?? "last";
  const name = metricName(written.replace(summary, ""));
  return { kind: "number", read: ({ metric }) => summarised(metric(name), which) };
}

/** Of the values that are numbers; undefined: there is none. */
function summarised(values: ArrayLike<number>, which: string): number | undefined {
  let [first, last, sum, count] = [Number.NaN, Number.NaN, 0, 0];
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!Number.isFinite(value)) continue;
    if (count === 0) first = value;
    last = value;
    sum += value;
    count += 1;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (count === 0) return undefined;
  const found: Readonly<Record<string, number>> = { first, last, max: high, min: low, mean: sum / count };
  return found[which];
}

/** A choice is its method's name. */
const chosen = (value: Value): Value =>
  isObject(value) && value["use"] !== undefined ? value["use"] : value;

/** A comparison with a value that a run does not have is false, so its negation is true. */
function comparison(parser: WhereParser<Test>): Test {
  const name = parser.peek();
  const { read, kind } = operand(parser);
  const sign = parser.sign();
  const { token, value } = parser.literal();
  const equal = sign.value === "==" || sign.value === "=";
  if (value === null) {
    if (!equal && sign.value !== "!=") throw parser.problem("can only be compared with == or !=", token);
    return (run) => isNothing(read(run)) === equal;
  }
  refuseOtherKind(parser, kind, name, token, value);
  if (timed.has(name.value) && /\d$/.test(token.value) && value !== 0)
    throw parser.problem("needs a unit: 30min, 12h, 7d or 2w", token);
  if (sign.value === "~" || sign.value === "contains") {
    if (typeof value !== "string") throw parser.problem("works only with text in quotes", sign);
    const found = sign.value === "~" ? pattern(parser, token, value) : (text: string) => text.includes(value);
    return (run) => texts(read(run)).some(found);
  }
  if (kind === "tag") {
    if (!equal && sign.value !== "!=") throw parser.problem("works only on numbers", sign);
    return (run) => texts(read(run)).includes(String(value)) === equal;
  }
  const holds = signs[sign.value]!;
  return (run) => {
    const own = chosen(read(run));
    if (isNothing(own)) return sign.value === "!=";
    return typeof own === typeof value ? holds(own as never, value as never) : sign.value === "!=";
  };
}

const isNothing = (value: Value): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Numbers by size, texts by the order of their characters. */
const signs: Readonly<Record<string, (one: never, other: never) => boolean>> = {
  "==": (one, other) => one === other,
  "=": (one, other) => one === other,
  "!=": (one, other) => one !== other,
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
};

function texts(value: Value): readonly string[] {
  const own = chosen(value);
  if (Array.isArray(own)) return own.map((item: Json) => String(chosen(item)));
  return own === undefined || own === null
    ? []
    : [typeof own === "object" ? JSON.stringify(own) : String(own)];
}

function pattern(parser: WhereParser<Test>, token: WhereToken, source: string): (text: string) => boolean {
  try {
    const expression = new RegExp(source, "u");
    return (text) => expression.test(text);
  } catch {
    throw parser.problem("is not a regular expression", token);
  }
}

const wanted: Readonly<Record<Kind, readonly string[]>> = {
  text: ["string"],
  tag: ["string"],
  number: ["number"],
  flag: ["boolean"],
  any: ["string", "number", "boolean"],
};
const kindWords: Readonly<Record<Kind, string>> = {
  text: "text in quotes",
  tag: "text in quotes",
  number: "a number",
  flag: "true or false",
  any: "a value",
};

function refuseOtherKind(
  parser: WhereParser<Test>,
  kind: Kind,
  name: WhereToken,
  token: WhereToken,
  value: string | number | boolean,
): void {
  if (!wanted[kind].includes(typeof value))
    throw parser.problem(`should be ${kindWords[kind]}, like ${name.value}`, token);
}
