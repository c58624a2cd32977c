/**
 * The process in which a user's reward runs. It is told what to load and what to score over the IPC channel; its
 * stdout is the user's own. It may be killed at any moment and holds nothing worth keeping.
 */
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { TermValue } from "../seams.ts";
import type { FromHost, ScoreInput, ToHost } from "./wire.ts";

type Score = (input: ScoreInput) => unknown;
const levels = ["token", "step", "turn"] as const;
let score: Score | undefined;

const say = (message: FromHost): void => void process.send?.(message);

function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null) {
    try {
      return `${Array.isArray(value) ? "the list" : "the object"} ${JSON.stringify(value)?.slice(0, 120)}`;
    } catch (error) {
      return `an object that can't be shown (${error instanceof Error ? error.message : String(error)})`;
    }
  }
  return typeof value === "string"
    ? `the string ${JSON.stringify(value.slice(0, 120))}`
    : `${typeof value} ${String(value)}`;
}

const failed = (message: string): TermValue => ({ kind: "error", message });
const isFunction = (value: unknown): value is Score => typeof value === "function";
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A returned value as a term's value; whatever else it is becomes an error that shows it. */
export function checked(result: unknown): TermValue {
  if (result === null) return { kind: "none" };
  if (typeof result === "number")
    return Number.isFinite(result)
      ? { kind: "value", value: result }
      : failed(`returned ${result}, which is not a finite number`);
  if (isObject(result) && Array.isArray(result["values"])) {
    const level = levels.find((known) => known === result["level"]);
    if (level === undefined)
      return failed(
        `returned the level ${JSON.stringify(result["level"])}; it must be one of ${levels.join(", ")}`,
      );
    const values: unknown[] = result["values"];
    const wrong = values.findIndex((value) => typeof value !== "number" || !Number.isFinite(value));
    if (wrong >= 0)
      return failed(
        `returned ${shown(values[wrong])} as value ${wrong} of its list, where only finite numbers may stand`,
      );
    return { kind: "values", level, values: values.map(Number) };
  }
  if (result === undefined)
    return failed(
      "returned nothing: is a `return` missing? It must return a number, null, or { level, values }",
    );
  return failed(`returned ${shown(result)}; it must return a number, null, or { level, values }`);
}

const thrown = (error: unknown): string => {
  if (!(error instanceof Error)) return `threw ${shown(error)}`;
  const place = error.stack
    ?.split("\n")
    .find((line) => line.trimStart().startsWith("at "))
    ?.trim();
  return `threw ${error.name}: ${error.message}${place === undefined ? "" : ` (${place})`}`;
};

async function load(bundle: string, name: string): Promise<FromHost> {
  try {
    const module: unknown = await import(pathToFileURL(bundle).href);
    const found = isObject(module) ? module[name] : undefined;
    if (isFunction(found)) {
      score = found;
      return { kind: "loaded" };
    }
    const exported = isObject(module) ? Object.keys(module) : [];
    return {
      kind: "refused",
      message:
        found === undefined
          ? `it has no export "${name}" (it exports ${exported.join(", ") || "nothing"})`
          : `its export "${name}" is ${shown(found)}, not a function`,
    };
  } catch (error) {
    return { kind: "refused", message: `loading it ${thrown(error)}` };
  }
}

async function judge(input: ScoreInput): Promise<TermValue> {
  if (score === undefined) return failed("was called before it was loaded");
  try {
    return checked(await score(input));
  } catch (error) {
    return failed(thrown(error));
  }
}

/** Looked for in a thread of its own: a function that never returns leaves this one no time to hear of the parent's death. */
const watchParent = `
  const parent = ${process.ppid};
  const gone = () => {
    try { process.kill(parent, 0); } catch { return true; }
    return process.platform !== "win32" && process.ppid !== parent;
  };
  setInterval(() => { if (gone()) process.kill(process.pid, "SIGKILL"); }, 500);
`;

if (process.send !== undefined) {
  new Worker(watchParent, { eval: true }).unref();
  process.on("message", (message: ToHost) => {
    if (message.kind === "load") void load(message.bundle, message.export).then(say);
    else void judge(message.input).then((value) => say({ kind: "scored", id: message.id, value }));
  });
  // The parent is gone: so is the reason to live.
  process.on("disconnect", () => process.exit(0));
}
