/** What scores a reward term where another trainer trains: Python of ours, the user's own function, or a reward server. */
import { isAbsolute, join, basename, dirname } from "node:path";
import { isObject, type Json, type JsonObject } from "../../../../shared/lib/json.ts";
import { signatureOf } from "../../../config/check/signatures/index.ts";
import type { RewardTermConfig, StageBody } from "../../../core/config/resolved.ts";
import type { Choice } from "../../../core/declaration.ts";
import { smallText } from "../../text/fileReader.ts";
import { isNotebook } from "../../../lib/notebook/notebook.ts";
import { pythonImports } from "../../../lib/python/imports.ts";
import type { Convention, TakenParameter } from "../../../methods/reward/own/python/convention.ts";
import { keywords, literal, pythonPattern } from "./literal.ts";
import { relativePath } from "../../../../shared/lib/slashes.ts";

export interface FileCopy {
  readonly from: string;
  /** Relative to the project. */
  readonly to: string;
}

/** How a term is scored. */
export type TermPlan =
  | {
      readonly kind: "python";
      /** An expression of `asked`, the rows. */
      readonly expression: string;
      /** Parts of parts.py. */
      readonly parts: readonly string[];
      readonly imports?: readonly string[];
      readonly copies?: readonly FileCopy[];
      /** The user's function, loaded once: an expression. */
      readonly own?: string;
      /** Package → its range. */
      readonly packages?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "served"; readonly why: string }
  | { readonly kind: "none"; readonly why: string };

interface Asked {
  readonly term: RewardTermConfig;
  readonly body: StageBody;
  /** Folder of the config. */
  readonly folder: string;
  /** Prompts of the data are lists of messages. */
  readonly messages: boolean;
  /** Whether the trainer asks for a response alone, without its group. */
  readonly alone: boolean;
}

/** These read a model of the run, its tokens or its episodes. */
const withModel: ReadonlySet<string> = new Set([
  ...["reward_model", "information_gain", "reference_probability", "label_gap", "length_vs_reference"],
  ...["token_rewriter", "implicit_prm", "process", "prefix_value", "rank_penalty", "judge_logit"],
  ...["environment", "tool_use", "effort", "repetition"],
]);

type Params = Choice<"reward">["params"];
type BuiltIn = (params: Params, body: StageBody, name: string, alone: boolean) => TermPlan;

const json = (value: unknown): Json | undefined => (value === undefined ? undefined : (value as Json));

/** A call for each row; without arguments the function itself. */
const row = (call: string, name: string): string =>
  `scored(${literal(name)}, ${/^(\w+)\(row\)$/.exec(call)?.[1] ?? `lambda row: ${call}`}, asked`;

const builtIns: Readonly<Record<string, BuiltIn>> = {
  exact_match: ({ strip, ignore_case }, _, name) => ({
    kind: "python",
    parts: ["exact_match"],
    expression: row(
      `exact_match(row${keywords({ strip: json(strip), ignore_case: json(ignore_case) }, { strip: true, ignore_case: false })})`,
      name,
    ),
  }),
  numeric: ({ tolerance }, _, name) => ({
    kind: "python",
    parts: ["numeric"],
    imports: ["re"],
    expression: row(`numeric(row${keywords({ tolerance: json(tolerance) }, { tolerance: 1e-6 })})`, name),
  }),
  verdict({ pattern, ignore_case }, _, name) {
    const own = pythonPattern(String(pattern));
    if (own === undefined) return { kind: "served", why: "its pattern has no counterpart in Python" };
    return {
      kind: "python",
      parts: ["verdict"],
      imports: ["re"],
      expression: row(
        `verdict(row, ${literal(own)}${keywords({ ignore_case: json(ignore_case) }, { ignore_case: false })})`,
        name,
      ),
    };
  },
  format({ pattern, tags, present, absent }, _, name) {
    const own = pattern === undefined ? undefined : pythonPattern(String(pattern));
    if (pattern !== undefined && own === undefined)
      return { kind: "served", why: "its pattern has no counterpart in Python" };
    const given = { pattern: own, tags: json(tags), present: json(present), absent: json(absent) };
    return {
      kind: "python",
      parts: ["format"],
      imports: ["re"],
      expression: row(`has_form(row${keywords(given, { present: 1, absent: 0 })})`, name),
    };
  },
  length({ shape, limit, cache, cost }, { rollout }, name, alone) {
    if (shape === "cosine") return { kind: "none", why: "it asks another term whether a response is right" };
    if (shape === "group_relative" && alone)
      return { kind: "none", why: "it compares the lengths of a group" };
    if (shape === "group_relative")
      return {
        kind: "python",
        parts: ["group_relative"],
        expression: `together(${literal(name)}, group_relative, asked`,
      };
    const most = typeof limit === "number" ? limit : rollout.max_tokens;
    const given = {
      shape: json(shape),
      limit: most,
      cache: shape === "soft_overlong" ? (json(cache) ?? most / 5) : undefined,
      cost: shape === "inverse" ? json(cost) : undefined,
    };
    return { kind: "python", parts: ["length"], expression: row(`length(row${keywords(given)})`, name) };
  },
  equation: ({ extract, partial }, _, name) => ({
    kind: "python",
    parts: ["equation"],
    imports: ["re", "from fractions import Fraction"],
    expression: row(
      `equation(row${keywords({ extract: json(extract), partial: json(partial) }, { extract: "all", partial: 0 })})`,
      name,
    ),
  }),
  math({ by }, _, name) {
    if (by === "compute_engine") return { kind: "served", why: "its judge comes with Gradus" };
    return {
      kind: "python",
      parts: ["math"],
      imports: ["math_verify"],
      packages: { "math-verify": ">=0.8" },
      expression: row("same_value(row)", name),
    };
  },
  remote_rm({ url }, _, name) {
    const [first] = Array.isArray(url) ? url : [url];
    return {
      kind: "python",
      parts: ["served"],
      imports: servedImports,
      expression: `served(${literal(name)}, asked, url=${literal(String(first))}`,
    };
  },
};

export const servedImports: readonly string[] = ["json", "os", "urllib.request"];

export function termPlan(asked: Asked): TermPlan {
  const { term: one, body, alone } = asked;
  const { declaration, params } = one.term;
  const { name } = declaration;
  if (withModel.has(name)) return { kind: "none", why: "it reads what only a run of Gradus has" };
  if (name === "python") return ownPython(asked);
  if (name === "user") return { kind: "served", why: "it is TypeScript" };
  const judge = params["judge"];
  if (isObject(json(judge)) && "of" in (judge as JsonObject))
    return { kind: "none", why: "its judge is a model of the run" };
  return (
    builtIns[name]?.(params, body, one.name, alone) ?? {
      kind: "served",
      why: "it has no short counterpart in Python",
    }
  );
}

// ─────────────────────────────────────────────────────────── the user's own

/** A statement at the margin that begins to train as the file is loaded. */
const trains = /^\w[\w.]*\.train\(/m;

function ownPython({ term: { term, name }, folder, messages }: Asked): TermPlan {
  const { file, export: called, args, messages: asMessages } = term.params;
  const [path, fn] = [String(file), String(called)];
  const place = isAbsolute(path) ? path : join(term.folder, path);
  const recognised = signatureOf(place, fn)?.recognised;
  const text = smallText(place);
  if (text === undefined) return { kind: "none", why: `its file ${basename(place)} cannot be read` };
  if (isNotebook(place)) return { kind: "served", why: `${basename(place)} is a notebook` };
  if (trains.test(text)) return { kind: "served", why: `${basename(place)} trains when it is loaded` };
  if (recognised?.kind !== "convention")
    return { kind: "served", why: "the text of its file does not say how it is called" };
  const { convention } = recognised;
  const by = callers[convention.name];
  if (by === undefined) return { kind: "served", why: `it is called as ${convention.title}` };
  const to = ownPlace(place, folder);
  const parameters = takenOf(place, fn);
  return {
    kind: "python",
    parts: ["own", ...by.parts],
    imports: ["asyncio", "importlib.util", "inspect", "os", "re", "from math import isfinite"],
    copies: [
      { from: place, to },
      ...pythonImports(place, text).files.map(({ path: from }) => ({ from, to: ownPlace(from, folder) })),
    ],
    own: `own(${literal(to)}, ${literal(fn)})`,
    expression: by.call({
      name: literal(name),
      fn: `FUNCTIONS[${literal(name)}]`,
      args: literal(json(args) ?? {}),
      names: literal(namesOf(convention, parameters)),
      messages: literal(typeof asMessages === "boolean" ? asMessages : messages),
    }),
  };
}

const takenOf = (file: string, name: string): readonly TakenParameter[] =>
  (signatureOf(file, name)?.parameters ?? []).map(({ name: own, usual }) => ({
    name: own.replace(/^\*+/, ""),
    kind: own.startsWith("**") ? "var_keyword" : "positional_or_keyword",
    optional: usual !== undefined,
  }));

/** Below the config's folder at the same place; from elsewhere in a folder of its own. */
function ownPlace(file: string, folder: string): string {
  const path = relativePath(folder, file);
  const inside = !path.startsWith("..") && !isAbsolute(path);
  return `own/${inside ? path : `elsewhere/${basename(dirname(file))}/${basename(file)}`}`;
}

/** What the function calls each role of its convention. */
function namesOf({ roles }: Convention, parameters: readonly TakenParameter[]): JsonObject {
  const any = parameters.some(({ kind }) => kind === "var_keyword");
  return Object.fromEntries(
    Object.entries(roles).flatMap(([role, names]) => {
      const own =
        names.find((name) => parameters.some((one) => one.name === name)) ?? (any ? names[0] : undefined);
      return own === undefined ? [] : [[role, own] as const];
    }),
  );
}

interface OwnCall {
  readonly name: string;
  readonly fn: string;
  readonly args: string;
  readonly names: string;
  readonly messages: string;
}

interface Caller {
  readonly parts: readonly string[];
  readonly call: (own: OwnCall) => string;
}

const callers: Readonly<Partial<Record<Convention["name"], Caller>>> = {
  gradus: {
    parts: ["gradus"],
    call: ({ name, fn, args }) => `scored(${name}, partial(by_gradus, ${fn}, ${args}), asked`,
  },
  trl: {
    parts: ["trl"],
    call: ({ name, fn, args, messages }) =>
      `together(${name}, partial(by_trl, ${fn}, ${args}, ${messages}), asked`,
  },
  verl: {
    parts: ["truth", "verl"],
    call: ({ name, fn, args, names }) => `scored(${name}, partial(by_verl, ${fn}, ${args}, ${names}), asked`,
  },
  verl_batch: {
    parts: ["truth", "verl", "verl_batch"],
    call: ({ name, fn, args, names }) =>
      `together(${name}, partial(by_verl_batch, ${fn}, ${args}, ${names}), asked`,
  },
  openrlhf: {
    parts: ["truth", "openrlhf"],
    call: ({ name, fn, args }) => `together(${name}, partial(by_openrlhf, ${fn}, ${args}), asked`,
  },
  reasoning_gym: {
    parts: ["reasoning_gym"],
    call: ({ name, fn, args }) => `scored(${name}, partial(by_reasoning_gym, ${fn}, ${args}), asked`,
  },
};
