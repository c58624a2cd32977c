/** Commands of the bundled command line, many in one process each: for tests that ask what a command says, not how it starts. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { resolve } from "node:path";
import { flag, starts } from "../../server/cli/trust.ts";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether a command only looks: its process starts nothing of a folder from then on (server/lib/own/withheld.ts). */
const looks = (words: readonly string[]): boolean =>
  // `gradus check --run` says that the folder is trusted.
  ![flag, "--run"].some((word) => words.includes(word)) &&
  !Object.entries(starts).some(([name, what]) => name === words[0] && what === "what its config names");

/** A process that runs commands one after the other (commandHost.mjs). */
class CommandHost {
  private readonly mark = `<${randomUUID()}> `;
  private readonly child: ChildProcess;
  private readonly streams: readonly [Socket, Socket];

  constructor(
    cli: string,
    environment: NodeJS.ProcessEnv,
    /** What it may be used for again. */
    readonly kind: string,
  ) {
    const script = resolve("test", "support", "commandHost.mjs");
    this.child = spawn(process.execPath, [script, cli, this.mark], {
      env: environment,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.streams = [this.child.stdout as Socket, this.child.stderr as Socket];
    for (const stream of this.streams) stream.setEncoding("utf8");
  }

  get lives(): boolean {
    return this.child.connected;
  }

  async run(words: readonly string[], cwd: string, environment: NodeJS.ProcessEnv): Promise<Ended> {
    this.hold(true);
    const said = this.streams.map((stream) => this.upToMark(stream));
    this.child.send({ words, cwd, runtime: environment[runtime] });
    const [out, err] = await Promise.all(said);
    // The process itself has ended where a stream closed without the mark.
    if (out!.code === undefined && this.child.exitCode === null && this.child.signalCode === null)
      await once(this.child, "exit");
    this.hold(false);
    return { code: out!.code ?? this.child.exitCode, stdout: out!.text, stderr: err!.text };
  }

  private upToMark(stream: Socket): Promise<{ text: string; code?: number }> {
    return new Promise((done) => {
      let text = "";
      const finish = (): void => {
        stream.off("data", take).off("close", finish);
        const [before, code] = text.split(this.mark);
        done(code === undefined ? { text } : { text: before!, code: Number(code) });
      };
      const take = (chunk: string): void => {
        text += chunk;
        if (text.endsWith("\n") && text.includes(this.mark)) finish();
      };
      stream.on("data", take).on("close", finish);
    });
  }

  /** While it runs a command the test waits for it; an idle one keeps no process from ending. */
  private hold(runs: boolean): void {
    for (const held of [this.child, this.child.channel, ...this.streams])
      if (runs) held?.ref();
      else held?.unref();
  }
}

const idle: CommandHost[] = [];
/** The folder of daemons, of which each workspace has its own: the one variable that may change from command to command. */
const runtime = "XDG_RUNTIME_DIR";

/** Runs `gradus …` to its end, in a process that may have run others of its kind before. */
export async function runHosted(
  cli: string,
  words: readonly string[],
  cwd: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const kind = JSON.stringify([cli, { ...environment, [runtime]: undefined }, looks(words)]);
  const index = idle.findIndex((host) => host.kind === kind);
  const host = idle.splice(index, index < 0 ? 0 : 1)[0] ?? new CommandHost(cli, environment, kind);
  const ended = await host.run(words, cwd, environment);
  if (host.lives) idle.push(host);
  return ended;
}
