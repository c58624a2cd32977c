/** `gradus serve` as a process of the worker's: it answers the harness's calls, the worker never does. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { apiPlaces } from "../../endpoint/clientVariables.ts";
import { LastWords } from "../../lib/own/lastWords.ts";
import { capturedSchema, type CapturedCall } from "./captured.ts";
import type { PolicyServer, SessionPlace, SessionSettings } from "./policyServer.ts";

/** Seconds until the server has opened the model. */
const startSeconds = 300;

const greetingSchema = z.looseObject({ url: z.string(), token: z.string(), model: z.string() });
type Greeting = z.output<typeof greetingSchema>;

interface Serving {
  readonly child: ChildProcess;
  readonly greeting: Greeting;
}

export interface ServedRunOptions {
  /** The program that this process runs: `serve` is one of its commands. */
  readonly program: string;
  /** What it serves: the run's folder, or a checkpoint. */
  readonly target: string;
  /** Has the present weights where the server finds them; absent: they stay as they are. */
  readonly publish?: () => void;
}

export class ServedRun implements PolicyServer {
  private serving: Promise<Serving> | undefined;

  constructor(private readonly options: ServedRunOptions) {}

  async serve(version: number): Promise<void> {
    await this.started();
    if (this.options.publish === undefined) return;
    this.options.publish();
    await this.ask("GET", `/weights/${version}?only`);
  }

  async begin(session: string, settings: SessionSettings): Promise<SessionPlace> {
    const { url, token, model } = (await this.started()).greeting;
    const { calls, ...defaults } = settings;
    await this.ask("PUT", `/sessions/${session}`, { defaults, calls });
    return { ...apiPlaces(`${url}/sessions/${session}`), url, token, model };
  }

  async end(session: string): Promise<readonly CapturedCall[]> {
    return capturedSchema.parse(await this.ask("POST", `/sessions/${session}/end`)).captured;
  }

  async close(): Promise<void> {
    const serving = await this.serving?.catch(() => undefined);
    if (serving === undefined || serving.child.exitCode !== null || serving.child.signalCode !== null) return;
    const ended = new Promise((resolve) => serving.child.once("exit", resolve));
    serving.child.stdin?.end();
    await ended;
  }

  private started(): Promise<Serving> {
    return (this.serving ??= this.start());
  }

  private start(): Promise<Serving> {
    const { program, target } = this.options;
    // The pipe to its standard input tells it of this process's end, however that comes.
    const child = spawn(process.execPath, [program, "serve", target, "--json", "--while-stdin"], {
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    const words = new LastWords(child);
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        clearTimeout(timer);
        this.serving = undefined;
        reject(notServed(words.all === "" ? why : `${why}: ${words.all}`));
      };
      const timer = setTimeout(() => {
        child.kill("SIGKILL");
        fail(`it did not answer within ${startSeconds} s`);
      }, startSeconds * 1000);
      child.on("error", (error) => fail(messageOf(error)));
      child.on("exit", (code, signal) => fail(`it ended with ${signal ?? `exit code ${code}`}`));
      createInterface({ input: child.stdout! }).once("line", (line) => {
        clearTimeout(timer);
        resolve({ child, greeting: greetingSchema.parse(JSON.parse(line)) });
      });
    });
  }

  private async ask(method: string, path: string, body?: object): Promise<unknown> {
    const { url, token } = (await this.started()).greeting;
    try {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const said: unknown = await answer.json();
      if (!answer.ok) throw new Error(JSON.stringify(said));
      return said;
    } catch (error) {
      throw notServed(`${method} ${path} failed: ${messageOf(error)}`, error);
    }
  }
}

const notServed = (why: string, cause?: unknown): UserError =>
  new UserError(`The policy's server, which the harness calls, is not there: ${why}`, {
    code: "harness-server",
    action: "Resume the run. If it happens again, try `gradus serve` with the run by hand.",
    cause,
  });
