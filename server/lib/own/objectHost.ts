/**
 * The process in which an environment or a tool of the user's own runs. It may be killed at any moment and holds nothing
 * but one episode.
 */
import { pathToFileURL } from "node:url";
import { isObject, type Json } from "../../../shared/lib/json.ts";
import { cut } from "./cut.ts";
import { described, thrown } from "./described.ts";
import { hosted } from "./hostLife.ts";
import type { FromObject, LoadAnswer, ObjectQuestion, ObjectRole, ToObject } from "./objectWire.ts";

type Method = (...given: readonly unknown[]) => unknown;
type Made = Readonly<Record<string, unknown>>;

let make: (() => unknown) | undefined;
let made: Made | undefined;

const say = (message: FromObject): void => void process.send?.(message);
const isMethod = (value: unknown): value is Method => typeof value === "function";
const isMade = (value: unknown): value is Made => typeof value === "object" && value !== null;

const isClass = (value: Method): boolean => /^class\b/.test(Function.prototype.toString.call(value));

/** A class is constructed, a factory is called, an object is itself. */
function maker(found: unknown): (() => unknown) | undefined {
  if (isMethod(found)) return isClass(found) ? () => Reflect.construct(found, []) : () => found();
  return isMade(found) ? () => found : undefined;
}

async function fresh(): Promise<Made> {
  const value = await make?.();
  if (!isMade(value)) throw new Error(`its factory returned ${described(value)}, not an object`);
  return value;
}

async function load(bundle: string, name: string, role: ObjectRole): Promise<LoadAnswer> {
  try {
    const module: unknown = await import(pathToFileURL(bundle).href);
    const found = isMade(module) ? module[name] : undefined;
    const exported = isMade(module) ? Object.keys(module).join(", ") || "nothing" : "nothing";
    if (found === undefined)
      return { kind: "refused", message: `it has no export "${name}" (it exports ${exported})` };
    make = maker(found);
    if (make === undefined)
      return { kind: "refused", message: `its export "${name}" is ${described(found)}` };
    return role === "tool" ? toolOf(found, name) : await environmentOf();
  } catch (error) {
    return { kind: "refused", message: cut(`loading it ${thrown(error)}`) };
  }
}

function toolOf(found: unknown, name: string): LoadAnswer {
  if (!isMade(found) || isMethod(found) || !isMethod(found["call"]))
    return {
      kind: "refused",
      message: `its export "${name}" is ${described(found)}, not { description, parameters, call }`,
    };
  made = found;
  const { description, parameters } = found;
  if (typeof description !== "string" || !isObject(parameters))
    return {
      kind: "refused",
      message: `its export "${name}" needs \`description\` (a text) and \`parameters\` (a JSON Schema of an object)`,
    };
  const own = typeof found["name"] === "string" ? found["name"] : name;
  const tools = [{ name: own, description, parameters }];
  return { kind: "loaded", form: "tool", tools, restores: false, rewards: false };
}

async function environmentOf(): Promise<LoadAnswer> {
  const environment = await fresh();
  const missing = ["reset", "step"].filter((method) => !isMethod(environment[method]));
  if (missing.length > 0)
    return { kind: "refused", message: `it has no method \`${missing.join("` and `")}\`` };
  const restores = isMethod(environment["state"]) && isMethod(environment["restore"]);
  return { kind: "loaded", form: "steps", tools: [], restores, rewards: false };
}

async function called(name: string, ...given: readonly unknown[]): Promise<Json> {
  const method = made?.[name];
  if (!isMethod(method)) throw new Error(`it has no method \`${name}\``);
  const value: unknown = await method.apply(made, [...given]);
  // As the log would have it; what JSON cannot hold is left for the check of its form.
  return JSON.parse(JSON.stringify(value ?? null, (_, one: unknown) => (isFinite_(one) ? one : String(one))));
}
const isFinite_ = (value: unknown): boolean => typeof value !== "number" || Number.isFinite(value);

async function answered(question: ObjectQuestion): Promise<Json> {
  switch (question.kind) {
    case "reset":
      made = await fresh();
      return called("reset", question.task, question.seed);
    case "step":
      return called("step", question.text);
    case "state":
      return called("state");
    case "restore":
      made = await fresh();
      return called("restore", question.state, question.task, question.seed);
    case "call":
      return called("call", question.args, { episode: question.episode, task: question.task });
    default:
      throw new Error(`it is not asked for its ${question.kind}`);
  }
}

hosted(import.meta.url, (message: ToObject) => {
  if (message.kind === "load") void load(message.bundle, message.name, message.role).then(say);
  else
    void answered(message.question).then(
      (value) => say({ id: message.id, value }),
      (error: unknown) => say({ id: message.id, error: cut(thrown(error)) }),
    );
});
