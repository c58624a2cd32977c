/** A Python process that runs a user's code: JSON in frames (u32 little-endian length) over two pipes of its own. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { OwnProcess } from "./ownProcess.ts";
import { markName } from "./processGroup.ts";
import { admit } from "./withheld.ts";
import { pythonEnvironment } from "./pythonEnvironment.ts";

interface Framed {
  readonly [key: string]: unknown;
}

/** Nothing is sent for it: the process greets by itself. */
interface Hello {
  readonly kind: "hello";
}

/** Seconds until the interpreter runs the host. */
const startSeconds = 20;

export abstract class FramedProcess<Question extends { readonly kind: string }> extends OwnProcess<
  Question | Hello,
  Framed
> {
  private readonly input: Writable;
  /** What has arrived of frames that are not complete. */
  private pieces: Buffer[] = [];
  private bytes = 0;
  private readonly started: Promise<string>;

  /** @param host the file that runs under the user's Python */
  protected constructor(
    python: string,
    host: string,
    folder: string,
    environment: Readonly<Record<string, string>> = {},
  ) {
    admit("A file of this config", folder);
    const mark = randomUUID();
    super(startedAs(python, host, folder, { ...environment, [markName]: mark }), mark);
    const [, , , input, output] = this.child.stdio;
    if (!(input instanceof Writable) || !(output instanceof Readable)) throw new Error("no pipes");
    this.input = input;
    // How the process ended says more than a broken pipe.
    input.on("error", () => input.destroy());
    output.on("error", () => output.destroy());
    output.on("data", (data: Buffer) => this.read(data));
    this.started = this.greeting();
    // Whoever asks first is told.
    this.started.catch(() => undefined);
  }

  /** "3.11.7", once the host runs. */
  version(): Promise<string> {
    return this.started;
  }

  protected send(question: Question | Hello): void {
    if (question.kind === "hello") return;
    const data = Buffer.from(JSON.stringify(question));
    const head = Buffer.alloc(4);
    head.writeUInt32LE(data.length);
    this.input.write(head);
    this.input.write(data);
  }

  private async greeting(): Promise<string> {
    let version = "";
    await this.converse({ kind: "hello" }, startSeconds, undefined, ({ kind, version: said }) => {
      if (kind !== "hello" || !Array.isArray(said)) return "other";
      version = said.join(".");
      return "last";
    });
    return version;
  }

  private read(data: Buffer): void {
    this.pieces.push(data);
    this.bytes += data.length;
    if (this.bytes < 4) return;
    let all = this.pieces.length === 1 ? data : Buffer.concat(this.pieces);
    while (all.length >= 4 && all.length >= 4 + all.readUInt32LE(0)) {
      const end = 4 + all.readUInt32LE(0);
      this.frame(all.toString("utf8", 4, end));
      all = all.subarray(end);
    }
    [this.pieces, this.bytes] = [all.length === 0 ? [] : [all], all.length];
  }

  /** The pipe is open to the user's code, too: what came over it need not be a frame of ours. */
  private frame(text: string): void {
    try {
      const message: unknown = JSON.parse(text);
      if (typeof message === "object" && message !== null) this.hear({ ...message });
    } catch {
      this.end("the process wrote to the pipe of Gradus");
      this.kill();
    }
  }
}

function startedAs(
  python: string,
  host: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  return spawn(python, [host], {
    cwd: folder,
    // A group of its own, so that what the user's code starts ends with it.
    detached: process.platform !== "win32",
    windowsHide: true,
    env: { ...pythonEnvironment(), ...environment },
    stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
  });
}
