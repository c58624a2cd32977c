/**
 * The process in which a user's reward runs. It receives what to load and what to score over the IPC channel; its
 * stdout is the user's own. It may be killed at any moment and holds nothing worth keeping.
 */
import { pathToFileURL } from "node:url";
import type { JudgedCriterion } from "../../../../shared/rollouts/criteria.ts";
import type { TermValue, TextSpans } from "../../../core/slots/reward.ts";
import { Counting } from "./counting.ts";
import { cut } from "../../../lib/own/cut.ts";
import { described, thrown } from "../../../lib/own/described.ts";
import { hosted } from "../../../lib/own/hostLife.ts";
import type { FromHost, ScoreInput, ToHost } from "./wire.ts";

type Score = (input: ScoreInput) => unknown;
const levels = ["token", "step", "turn"] as const;
let score: Score | undefined;
let counting: Counting | undefined;

const say = (message: FromHost): void => void process.send?.(message);

const failed = (message: string): TermValue => ({ kind: "error", message: cut(message) });
const isFunction = (value: unknown): value is Score => typeof value === "function";
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const forms = "a number, null, { value, spans, criteria } or { level, values }";

/** A returned value as a term's value; whatever else it is becomes an error that shows it. @param length of the response */
function checked(result: unknown, length = Number.POSITIVE_INFINITY): TermValue {
  if (result === undefined)
    return failed(`returned nothing: is a \`return\` missing? It must return ${forms}`);
  if (!isObject(result)) return plain(result);
  const spans = result["spans"] === undefined ? {} : spansOf(result["spans"], length);
  if (typeof spans === "string") return failed(spans);
  const criteria = result["criteria"] === undefined ? {} : criteriaOf(result["criteria"]);
  if (typeof criteria === "string") return failed(criteria);
  if (Array.isArray(result["values"])) {
    const several = listed(result["level"], result["values"]);
    return several.kind === "values" ? { ...several, ...spans, ...criteria } : several;
  }
  if (!("value" in result)) return failed(`returned ${described(result)}; it must return ${forms}`);
  const one = plain(result["value"]);
  return one.kind === "error" ? one : { ...one, ...spans, ...criteria };
}

function plain(result: unknown): TermValue {
  if (result === null) return { kind: "none" };
  if (typeof result !== "number") return failed(`returned ${described(result)}; it must return ${forms}`);
  return Number.isFinite(result)
    ? { kind: "value", value: result }
    : failed(`returned ${result}, which is not a finite number`);
}

function listed(name: unknown, values: readonly unknown[]): TermValue {
  const level = levels.find((known) => known === name);
  if (level === undefined)
    return failed(`returned the level ${JSON.stringify(name)}; it must be one of ${levels.join(", ")}`);
  const wrong = values.findIndex((value) => typeof value !== "number" || !Number.isFinite(value));
  if (wrong >= 0)
    return failed(
      `returned ${described(values[wrong])} as value ${wrong} of its list, which may contain only finite numbers`,
    );
  return { kind: "values", level, values: values.map(Number) };
}

const isSpan = (span: unknown, length: number): span is [number, number] =>
  Array.isArray(span) &&
  span.length === 2 &&
  span.every((end) => Number.isInteger(end) && end >= 0 && end <= length) &&
  span[0] <= span[1];

/** What is wrong with returned spans, or the spans. */
function spansOf(spans: unknown, length: number): string | { readonly spans: TextSpans } {
  if (!isObject(spans))
    return `returned ${described(spans)} as \`spans\`, which must be { name: [[from, to], …] }`;
  const checkedSpans: Record<string, [number, number][]> = {};
  for (const [name, list] of Object.entries(spans)) {
    if (!Array.isArray(list))
      return `returned ${described(list)} as \`spans.${name}\`, which must be a list of [from, to]`;
    const own: [number, number][] = [];
    for (const span of list) {
      if (!isSpan(span, length))
        return `returned ${described(span)} in \`spans.${name}\`: a span is [from, to], characters of the response, which has ${length}`;
      own.push([span[0], span[1]]);
    }
    checkedSpans[name] = own;
  }
  return { spans: checkedSpans };
}

/** True, false, a number from 0 to 1, or null: not known. */
const isMet = (met: unknown): met is boolean | number | null =>
  met === null || typeof met === "boolean" || (typeof met === "number" && met >= 0 && met <= 1);

/** What is wrong with returned criteria, or the criteria. */
function criteriaOf(criteria: unknown): string | { readonly criteria: readonly JudgedCriterion[] } {
  if (!isObject(criteria))
    return `returned ${described(criteria)} as \`criteria\`, which must be { criterion: degree to which it is met }`;
  const list: JudgedCriterion[] = [];
  for (const [text, criterion] of Object.entries(criteria)) {
    const { met, points = 1, veto = false } = isObject(criterion) ? criterion : { met: criterion };
    const place = `in \`criteria[${JSON.stringify(text)}]\``;
    if (!isMet(met))
      return `returned ${described(met)} ${place}: whether it is met is true, false, a number from 0 to 1, or null`;
    if (typeof points !== "number" || !Number.isFinite(points))
      return `returned ${described(points)} as points ${place}, which must be a finite number`;
    if (typeof veto !== "boolean")
      return `returned ${described(veto)} as veto ${place}, which must be true or false`;
    list.push({ text, points, ...(veto && { veto }), met: met === null ? null : Number(met) });
  }
  return { criteria: list };
}

async function load(bundle: string, name: string, cover: boolean): Promise<FromHost> {
  try {
    counting = cover ? new Counting() : undefined;
    const module: unknown = await import(pathToFileURL(bundle).href);
    const found = isObject(module) ? module[name] : undefined;
    if (isFunction(found)) {
      score = counting?.counted(found) ?? found;
      return { kind: "loaded" };
    }
    const exported = isObject(module) ? Object.keys(module) : [];
    return {
      kind: "refused",
      message:
        found === undefined
          ? `it has no export "${name}" (it exports ${exported.join(", ") || "nothing"})`
          : `its export "${name}" is ${described(found)}, not a function`,
    };
  } catch (error) {
    return { kind: "refused", message: cut(`loading it ${thrown(error)}`) };
  }
}

async function judge(input: ScoreInput): Promise<TermValue> {
  if (score === undefined) return failed("was called before it was loaded");
  try {
    return checked(await score(input), input.response.length);
  } catch (error) {
    return failed(thrown(error));
  }
}

hosted(import.meta.url, (message: ToHost) => {
  if (message.kind === "load") void load(message.bundle, message.export, message.cover === true).then(say);
  else if (message.kind === "score")
    void judge(message.input).then((value) => say({ kind: "scored", id: message.id, value }));
  else if (counting !== undefined) say(counting.reached());
});
