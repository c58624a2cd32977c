/** What a line of a log says of a step: verl's console line or its file logger's, or the dicts that transformers prints. */

import { verlEntry } from "../../trainerMetrics.ts";

/** Numbers by the names that the trainer gave them; NaN and infinities among them. */
export type Numbers = Readonly<Record<string, number>>;

export type Printed =
  | { readonly kind: "step"; readonly step: number; readonly data: Numbers }
  /** Says what was logged, and not at which step. */
  | { readonly kind: "counted"; readonly data: Numbers }
  | { readonly kind: "evaluated"; readonly data: Numbers }
  /** A progress bar. */
  | { readonly kind: "bar"; readonly done: number; readonly of: number };

const mostNumbers = 2_000;

/** Also `np.float64(0.3)` and `tensor(0.3, device='cuda:0')`, as they are printed. */
const number =
  /^\s*(?:[A-Za-z_][\w.]{0,30}\()?\s*([-+]?(?:nan|inf(?:inity)?|\d{1,40}(?:\.\d{0,40})?(?:e[-+]?\d{1,4})?|\.\d{1,40}(?:e[-+]?\d{1,4})?))(?=$|[\s,)[])/i;

function numberOf(text: string): number | undefined {
  const found = number.exec(text)?.[1]?.toLowerCase();
  if (found === undefined) return undefined;
  if (found.endsWith("nan")) return Number.NaN;
  if (found.includes("inf"))
    return found.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(found);
}

/** Ray puts the process in front, others a time; "[repeated 8x across cluster]" may follow the last number. */
const verlBegin = /(?:^|[\s\])|>])step:(\d{1,9}) - /;

/** `step:34 - actor/entropy:0.3 - critic/score/mean:0.41`; undefined: it is no such line. */
export function verlLine(line: string): Extract<Printed, { kind: "step" }> | undefined {
  const found = verlBegin.exec(line);
  if (found === null) return undefined;
  const pairs = line.slice(found.index + found[0].length).split(" - ", mostNumbers);
  const data = Object.fromEntries(
    pairs.flatMap((pair) => {
      const at = pair.indexOf(":");
      const value = at <= 0 ? undefined : numberOf(pair.slice(at + 1));
      return value === undefined ? [] : [[pair.slice(0, at).trim(), value] as const];
    }),
  );
  const isMetrics = Object.keys(data).some((name) => name.includes("/"));
  return isMetrics ? { kind: "step", step: Number(found[1]), data } : undefined;
}

/** A step that verl's file logger recorded. */
export function verlRecord(line: string): Extract<Printed, { kind: "step" }> | undefined {
  const entry = line.startsWith('{"step"') ? verlEntry(line) : undefined;
  if (entry === undefined) return undefined;
  const numbers = Object.entries(entry.data).flatMap(([name, value]) => {
    const found = typeof value === "number" ? value : numberOf(String(value));
    return found === undefined ? [] : [[name, found] as const];
  });
  return numbers.some(([name]) => name.includes("/"))
    ? { kind: "step", step: entry.step, data: Object.fromEntries(numbers) }
    : undefined;
}

const opening = /\{(?=\s{0,20}['"])/g;
const pair =
  /\s{0,20}(['"])([^'"{}]{1,200})\1\s{0,20}:\s{0,20}(?:'([^']{0,200})'|"([^"]{0,200})"|([^,'"{}]{1,80}))\s{0,20}([,}])/y;
const bar = /(\d{1,9})\/(\d{1,9}) \[/g;

/** Everything that a line of transformers says, in its order. */
export function* trlLine(line: string): Generator<Printed> {
  let from = 0;
  for (const { index, data, end } of dictsIn(line)) {
    yield* barsIn(line.slice(from, index));
    from = end;
    const found = entryOf(data);
    if (found !== undefined) yield found;
  }
  yield* barsIn(line.slice(from));
}

function* barsIn(text: string): Generator<Printed> {
  for (const [, done, of] of text.matchAll(bar)) yield { kind: "bar", done: Number(done), of: Number(of) };
}

interface Dict {
  readonly index: number;
  readonly end: number;
  readonly data: ReadonlyMap<string, string>;
}

/** Dicts of plain values alone: what has others in it is no log. A failure goes on behind what was read. */
function* dictsIn(line: string): Generator<Dict> {
  if (!line.includes("{")) return;
  for (let at = 0; ;) {
    opening.lastIndex = at;
    const begin = opening.exec(line);
    if (begin === null) return;
    const data = new Map<string, string>();
    at = begin.index + 1;
    for (let open = true; open && data.size < mostNumbers;) {
      pair.lastIndex = at;
      const found = pair.exec(line);
      if (found === null) break;
      at = pair.lastIndex;
      data.set(found[2]!, found[3] ?? found[4] ?? found[5]!);
      open = found[6] === ",";
      if (!open) yield { index: begin.index, end: at, data };
    }
  }
}

const ofTraining = /^(loss|reward|reward_std|grad_norm|kl|completion_length)$|^(rewards|completions)\//;

function entryOf(texts: ReadonlyMap<string, string>): Printed | undefined {
  const data = Object.fromEntries(
    [...texts].flatMap(([name, text]) => {
      const value = numberOf(text);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const names = Object.keys(data);
  const { step, epoch } = data;
  // ms-swift writes the step as "1/60".
  const own = /^(\d{1,9})\/\d{1,9}$/.exec(texts.get("global_step/max_steps") ?? "")?.[1] ?? step;
  // The last dict sums the training up.
  if ((epoch === undefined && own === undefined) || "train_runtime" in data) return undefined;
  if (names.some((name) => name.startsWith("eval_"))) return { kind: "evaluated", data };
  if (!names.some((name) => ofTraining.test(name))) return undefined;
  return own !== undefined && Number.isInteger(Number(own))
    ? { kind: "step", step: Number(own), data }
    : { kind: "counted", data };
}
