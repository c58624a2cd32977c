/** What a reward's process prints, as far as it goes to our stderr: stdout carries results only. */
import type { Readable } from "node:stream";

/** Bytes that one call may print. */
const mostPerCall = 16 * 1024;
/** Milliseconds in which the last words of a process that has ended still arrive. */
const grace = 200;

export class Printed {
  private left = mostPerCall;
  private cut = false;

  constructor(private readonly streams: readonly (Readable | null)[]) {
    for (const stream of streams) {
      stream?.on("data", (data: Buffer) => this.write(data));
      // A pipe whose other end was killed has nothing more to say.
      stream?.on("error", () => stream.destroy());
    }
  }

  /** Another call has started. */
  allowMore(): void {
    this.left = mostPerCall;
    this.cut = false;
  }

  /** A grandchild that lives on must not hold the pipe, and with it this process, open. */
  close(): void {
    setTimeout(() => this.streams.forEach((stream) => stream?.destroy()), grace).unref();
  }

  private write(data: Buffer): void {
    if (this.left > 0) process.stderr.write(data.subarray(0, this.left));
    this.left -= data.length;
    if (this.left >= 0 || this.cut) return;
    this.cut = true;
    process.stderr.write(`\n… (the reward printed more than ${mostPerCall / 1024} kB in one call: cut)\n`);
  }
}
