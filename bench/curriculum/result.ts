/** What a run came to, as a line of results.jsonl: real ones of the tiny model, and simulated ones. */
import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs";
import { z } from "zod";

const point = z.object({
  /** Updates so far. */
  step: z.number(),
  /** Rollouts so far, rejected ones included. */
  rollouts: z.number(),
  /** Tokens written so far, those of rejected rollouts included; simulated: rollouts. */
  written: z.number(),
  /** Tokens so far that had a gradient; simulated: rollouts of groups that are neither all right nor all wrong. */
  trained: z.number(),
  /** Mean held-out success, pass@1, of each arm. */
  arms: z.record(z.string(), z.number()),
  /** Mean held-out pass@k of each arm, by k, where more than pass@1 was asked. */
  pass: z.record(z.string(), z.record(z.string(), z.number())).optional(),
  /** Mean entropy of the policy over the updates since the last point. */
  entropy: z.number().optional(),
});
export type Point = z.output<typeof point>;

const result = z.object({
  kind: z.enum(["real", "simulated"]),
  side: z.string(),
  seed: z.number().int(),
  /** Of the pilot, which says how many seeds a claim needs, and is no evidence of it. */
  pilot: z.literal(true).optional(),
  /** Of the settings: another one, and the run is made again. */
  fingerprint: z.string(),
  date: z.string(),
  machine: z.string(),
  version: z.string(),
  /** Wall time: information only, since other work shares the machine. */
  seconds: z.number(),
  /** Load average of the machine as it ended: how quiet it was. */
  load: z.number().optional(),
  /** Groups drawn, those that trained, and those of them that are neither all right nor all wrong. */
  groups: z.object({ drawn: z.number(), admitted: z.number(), mixed: z.number() }),
  /** Seconds of the run in which the curriculum chose and learned, and in which rollouts were written. */
  time: z.object({ choose: z.number(), generate: z.number() }).optional(),
  points: z.array(point).min(2),
});
export type Result = z.output<typeof result>;

/** Ends with its last whole line: a kill can leave a part of one behind it. */
const whole = (text: string): string => text.slice(0, text.lastIndexOf("\n") + 1);

/** @throws Error where a line is not a result; it names the line */
export function readResults(file: string): Result[] {
  if (!existsSync(file)) return [];
  const lines = whole(readFileSync(file, "utf8")).split("\n");
  return lines.flatMap((line, i) => {
    if (line === "") return [];
    const read = result.safeParse(JSON.parse(line));
    if (!read.success) throw new Error(`${file}:${i + 1}: ${read.error.message}`);
    return [read.data];
  });
}

/** One line more, behind the last whole one. */
export function keepResult(file: string, one: Result): void {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (whole(text) !== text) truncateSync(file, Buffer.byteLength(whole(text)));
  appendFileSync(file, `${JSON.stringify(one)}\n`);
}

/** Results that count for claims. */
export const evidence = (results: readonly Result[]): Result[] => results.filter(({ pilot }) => !pilot);
export const pilots = (results: readonly Result[]): Result[] => results.filter(({ pilot }) => pilot === true);

/** Of each kind, side and seed the last result with the side's last fingerprint. */
export function latest(results: readonly Result[]): Result[] {
  const present = new Map(results.map((one) => [`${one.kind} ${one.side}`, one.fingerprint]));
  const own = results.filter((one) => present.get(`${one.kind} ${one.side}`) === one.fingerprint);
  return [...new Map(own.map((one) => [`${one.kind} ${one.side} ${one.seed}`, one])).values()];
}

/** Runs with earlier settings than a side's last, one list for each settings. */
export function superseded(results: readonly Result[]): Result[][] {
  const present = new Set(
    latest(results).map(({ kind, side, fingerprint }) => `${kind} ${side} ${fingerprint}`),
  );
  const earlier = new Map<string, Result[]>();
  for (const one of results) {
    const key = `${one.kind} ${one.side} ${one.fingerprint}`;
    if (!present.has(key)) earlier.set(key, [...(earlier.get(key) ?? []), one]);
  }
  return [...earlier.values()];
}
