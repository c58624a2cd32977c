/**
 * The service's files: `states/<step>.state` as it was when that step was observed, `draws.jsonl` with the draws since, and
 * `decisions.jsonl`. A state is written next to its final place and renamed when it is on the device.
 */
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError, messageOf } from "../../../../shared/lib/errors.ts";
import { flushFolder } from "../../../lib/durable/flush.ts";
import type { Json } from "../../../../shared/lib/json.ts";
import type { Saved } from "../../../core/basics.ts";
import { entrySchema, packed, unpacked } from "../../../core/state/savedArrays.ts";
import type { DrawRequest } from "./requests.ts";
import { putInPlace } from "../../../../shared/lib/putInPlace.mjs";

/** What is kept of a step in addition to the state. */
export interface KeptState {
  readonly saved: Saved;
  /** Of what was reported: the same report again changes nothing. */
  readonly digest: string;
  readonly decision: Json;
}

const headSchema = z.object({
  digest: z.string(),
  decision: z.json(),
  json: z.json(),
  arrays: z.array(entrySchema),
});
const drawSchema = z.object({
  step: z.number().int(),
  prompts: z.number().int().optional(),
  round: z.number().int(),
});
/** Bytes of states that are kept, whatever their number. */
const mostBytes = 256 * 1024 * 1024;
const stateName = /^(\d+)\.state$/;

export class StateFolder {
  private readonly states: string;
  private readonly draws: AppendedFile;
  private readonly decisions: AppendedFile;

  /** @param keep states of the last steps that are kept */
  constructor(
    folder: string,
    private readonly keep: number,
  ) {
    this.states = join(folder, "states");
    mkdirSync(this.states, { recursive: true });
    for (const name of readdirSync(this.states))
      if (!stateName.test(name)) rmSync(join(this.states, name), { force: true });
    this.draws = new AppendedFile(join(folder, "draws.jsonl"));
    this.decisions = new AppendedFile(join(folder, "decisions.jsonl"));
  }

  /** Steps whose states are there, ascending. */
  steps(): number[] {
    return readdirSync(this.states)
      .flatMap((name) => (stateName.test(name) ? [Number.parseInt(name, 10)] : []))
      .sort((a, b) => a - b);
  }

  private path(step: number): string {
    return join(this.states, `${step}.state`);
  }

  /** @throws UserError where it is damaged */
  read(step: number): KeptState {
    const path = this.path(step);
    try {
      const bytes = readFileSync(path);
      const size = bytes.readUInt32LE(0);
      const head = headSchema.parse(JSON.parse(bytes.toString("utf8", 4, 4 + size)));
      const { digest, decision, json } = head;
      return { digest, decision, saved: { json, arrays: unpacked(head.arrays, bytes.subarray(4 + size)) } };
    } catch (error) {
      throw new UserError(`the state of step ${step} is damaged: ${messageOf(error)}`, {
        file: path,
        code: "service-state",
        cause: error,
        action: "Remove the file: the service then begins at the state before it.",
      });
    }
  }

  /** Draws before it are part of it. @throws UserError where the disk does not take it; nothing has changed then */
  write(step: number, { saved, digest, decision }: KeptState): void {
    const path = this.path(step);
    const { arrays, bytes } = packed(saved.arrays ?? {});
    const head = Buffer.from(JSON.stringify({ digest, decision, json: saved.json, arrays }));
    const size = Buffer.alloc(4);
    size.writeUInt32LE(head.length);
    const draft = `${path}.new`;
    try {
      durably(draft, Buffer.concat([size, head, bytes]));
      putInPlace(draft, path);
      flushFolder(this.states);
    } catch (error) {
      rmSync(draft, { force: true });
      throw new UserError(`the state of step ${step} could not be written: ${messageOf(error)}`, {
        file: path,
        code: "service-state",
        cause: error,
        action: "Free space on this disk, then report the step again.",
      });
    }
    this.draws.empty();
    this.prune();
  }

  private prune(): void {
    const steps = this.steps();
    let bytes = 0;
    steps.reverse().forEach((step, age) => {
      bytes += statSync(this.path(step)).size;
      if (age >= this.keep || (age > 1 && bytes > mostBytes)) rmSync(this.path(step), { force: true });
    });
  }

  /** Forgets what came after a step; −1: everything. */
  forgetAfter(step: number): void {
    this.draws.empty();
    for (const one of this.steps().reverse()) if (one > step) rmSync(this.path(one), { force: true });
    flushFolder(this.states);
  }

  /** Draws since the last state, in their order. */
  drawsSince(): DrawRequest[] {
    return this.draws.lines().map((line) => {
      const { step, prompts, round } = drawSchema.parse(JSON.parse(line));
      return { step, round, prompts };
    });
  }
  addDraw(draw: DrawRequest): void {
    this.draws.append(draw);
  }

  addDecision(decision: object): void {
    this.decisions.append(decision);
  }
  lastDecision(): unknown {
    const last = this.decisions.lines().at(-1);
    return last === undefined ? undefined : JSON.parse(last);
  }

  close(): void {
    this.draws.close();
    this.decisions.close();
  }
}

/** One JSON object a line, on the device when `append` returns. Half a line that a killed process left is cut off. */
class AppendedFile {
  private readonly descriptor: number;

  constructor(private readonly path: string) {
    this.descriptor = openSync(path, "a");
    const bytes = readFileSync(path);
    const whole = bytes.lastIndexOf("\n") + 1;
    if (whole < bytes.length) ftruncateSync(this.descriptor, whole);
  }

  lines(): string[] {
    return readFileSync(this.path, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  }
  append(value: object): void {
    writeSync(this.descriptor, `${JSON.stringify(value)}\n`);
    fsyncSync(this.descriptor);
  }
  empty(): void {
    ftruncateSync(this.descriptor, 0);
  }
  close(): void {
    closeSync(this.descriptor);
  }
}

function durably(path: string, bytes: Buffer): void {
  const descriptor = openSync(path, "w", 0o600);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
