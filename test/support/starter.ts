/** The starter as `gradus init` writes it, trained through the command line as a newcomer would. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { Workspace, type Talk } from "./workspace.ts";

const measures = z.looseObject({ "eval/pass@1": z.number(), "eval/pass@8": z.number() });
const summary = z.looseObject({
  status: z.literal("finished"),
  seconds: z.number(),
  evaluation: z.object({ first: measures, last: measures }),
});

export interface Trained {
  readonly first: z.output<typeof measures>;
  readonly last: z.output<typeof measures>;
  readonly seconds: number;
  /** Of the worker, on both cores together; undefined where the system does not tell. */
  readonly cpuSeconds: number | undefined;
}

/** Clock ticks in a second of /proc, on every Linux that Node runs on. */
const ticks = 100;

/** What a process has computed so far. */
function cpuOf(pid: number): number | undefined {
  try {
    // The name in parentheses may hold spaces; user and system time are the 12th and 13th after it.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
    return (Number(fields[11]) + Number(fields[12])) / ticks;
  } catch {
    // Not Linux, or it has ended meanwhile: what was read last stays.
    return undefined;
  }
}

async function computed(talk: Talk, pid: () => number): Promise<number | undefined> {
  let [seen, cpu] = [0, undefined as number | undefined];
  const read = ({ lines }: Talk): boolean => {
    if (lines.length > seen && lines.some(({ type }) => type === "step")) cpu = cpuOf(pid()) ?? cpu;
    seen = lines.length;
    return lines.at(-1)?.type === "summary";
  };
  await talk.until(read);
  return cpu;
}

/** `gradus init`, then `gradus run` with nothing changed but the seed. */
export async function trainStarter(seed: number): Promise<Trained> {
  const workspace = new Workspace();
  try {
    const { code, text } = await workspace.finish("init", "starter", "--json");
    assert.equal(code, 0, text);
    const config = join("starter", "countdown.gradus.yaml");
    const talk = workspace.start("run", config, "--json", "--seed", String(seed));
    const cpuSeconds = await computed(talk, () => workspace.worker(talk.of("started")[0]!.run!).pid);
    assert.equal(await talk.ended, 0, talk.stderr);
    const { evaluation, seconds } = summary.parse(talk.lines.at(-1));
    return { ...evaluation, seconds, cpuSeconds };
  } finally {
    await workspace.remove();
  }
}

/** Two cores for a minute and a half: a busy machine takes longer, and computes no more. */
const mostCpuSeconds = 2 * 90;

/** @throws where it did not learn, or cost too much */
export function assertLearned({ first, last, cpuSeconds }: Trained): void {
  const told = JSON.stringify({ first, last, cpuSeconds });
  assert.ok(last["eval/pass@1"] >= first["eval/pass@1"] + 0.03, `pass@1 did not rise: ${told}`);
  assert.ok(last["eval/pass@8"] >= first["eval/pass@8"] / 2, `pass@8 was halved: ${told}`);
  assert.ok(cpuSeconds === undefined || cpuSeconds <= mostCpuSeconds, `it took too long: ${told}`);
}
