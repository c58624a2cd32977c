/** prime-rl's own code, where GRADUS_PEER_PYTHON names a Python that has it, asked through primePeer.py. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { z } from "zod";
import { exporters, writeProject } from "../../server/frameworks/trainers/exporters.ts";
import { configOf, temporary } from "../unit/support.ts";

const python = process.env["GRADUS_PEER_PYTHON"] ?? "";
const modules =
  "torch, verifiers.v1, prime_rl.configs.rl, prime_rl.orchestrator.dispatcher, prime_rl.trainer.rl.loss";
const has = python !== "" && spawnSync(python, ["-c", `import ${modules}`]).status === 0;
export const withPrime = {
  skip: has ? false : "GRADUS_PEER_PYTHON names no Python with prime_rl and what it imports",
};

const peer = resolve("test/support/primePeer.py");

/** What it says to each of several things that it is asked. */
export function saidAll<Answer>(
  command: string,
  asked: readonly object[],
  schema: z.ZodType<Answer>,
): Answer[] {
  const { status, stdout, stderr } = spawnSync(python, [peer, command], {
    encoding: "utf8",
    input: JSON.stringify(asked),
    maxBuffer: 1 << 28,
    env: { ...process.env, GRADUS_NODE: process.execPath, HF_HUB_OFFLINE: "1" },
  });
  assert.equal(status, 0, stderr.slice(-3000));
  return schema.array().parse(JSON.parse(/^found (.+)$/m.exec(stdout)?.[1] ?? ""));
}

export const said = <Answer>(command: string, asked: object, schema: z.ZodType<Answer>): Answer =>
  saidAll(command, [asked], schema)[0]!;

/** The folder of an exported config. */
export async function primeProject(text: string, folder = temporary()): Promise<string> {
  const out = join(folder, "the project");
  const request = { text, folder: out, python, launch: undefined, version: "0.0.0" };
  await writeProject(exporters["prime-rl"], { ...request, config: configOf(text, folder) });
  return out;
}

/** Ids of the tasks that train, in their order. */
export const drawnIn = (folder: string): string[] =>
  readFileSync(join(folder, "train.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => String(JSON.parse(line).id));
