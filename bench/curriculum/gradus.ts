/** The product, as a person calls it. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";

const metrics = z.record(z.string(), z.number().nullable());
/** The lines of `run --json` that are read here. */
const line = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("started"), run: z.string(), folder: z.string() }),
  z.looseObject({ type: z.literal("stage"), name: z.string() }),
  z.looseObject({ type: z.literal("step"), step: z.number(), metrics }),
  z.looseObject({ type: z.literal("evaluation"), step: z.number(), metrics }),
  z.looseObject({ type: z.literal("event"), severity: z.string(), message: z.string() }),
  z.looseObject({
    type: z.literal("summary"),
    status: z.string(),
    message: z.string().nullable(),
    seconds: z.number(),
  }),
]);
export type Line = z.output<typeof line>;

export interface Asked {
  readonly file: string;
  readonly seed: number;
  readonly store: string;
  readonly set: readonly string[];
}

const gradus = join("bin", "gradus");

/** Runs a config and hands on its lines. @throws Error where the run does not finish */
export async function* run({ file, seed, store, set }: Asked): AsyncGenerator<Line> {
  const words = ["run", file, "--json", "--store", store, "--seed", String(seed)];
  const child = spawn(process.execPath, [gradus, ...words, ...set.flatMap((one) => ["--set", one])], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (text: Buffer) => (errors = `${errors}${text}`.slice(-2000)));
  let finished = false;
  for await (const text of createInterface({ input: child.stdout })) {
    const read = line.safeParse(JSON.parse(text));
    if (!read.success) continue;
    if (read.data.type === "summary") {
      finished = read.data.status === "finished";
      if (!finished) errors = read.data.message ?? read.data.status;
    }
    yield read.data;
  }
  if (!finished) throw new Error(`${file}, seed ${seed}: ${errors.trim() || "no summary"}`);
}

/** A command whose result is not read. */
export const command = (...words: readonly string[]): Promise<void> =>
  new Promise((done) => {
    spawn(process.execPath, [gradus, ...words], { stdio: "ignore" }).on("close", () => {
      done();
    });
  });
