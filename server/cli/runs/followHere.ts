/** `gradus run` and `gradus runs follow`: the follower on a connection that heals, shown in this terminal or as JSON lines. */
import type { Command as Program } from "commander";
import { setTimeout as wait } from "node:timers/promises";
import { DaemonClient } from "../../../shared/daemon/client.ts";
import { rolloutsQuery, runsControl } from "../../../shared/protocol/protocol.ts";
import { fromWire } from "../../../shared/rollouts/rollouts.ts";
import { exit } from "../command.ts";
import { RunFollower } from "./follow.ts";
import type { CompletionRow, RunLine, RunReporter } from "../text/runLines.ts";
import { JsonLines, PlainView } from "../text/runText.ts";
import { LiveView } from "../text/runView.ts";
import { ofRun } from "./ofRun.ts";
import { openDaemon, storeOf } from "./store.ts";

interface FollowHereOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly history: boolean;
  /** Hears each line as well, and may ask something of the run. */
  readonly hear?: (line: RunLine, client: DaemonClient) => void;
}

interface Followed {
  /** null: the person left before its end. */
  readonly summary: Extract<RunLine, { type: "summary" }> | null;
  /** The person asked for the end. */
  readonly interrupted: boolean;
}

/** Within this time a second Ctrl-C stops the run. */
const secondPress = 2_000;
/** Milliseconds after which a run that says nothing is asked for. */
const lookEvery = 2_000;
/** How often completions are fetched at most, and how many are looked at. */
const completionsEvery = 1_000;
const candidates = 64;

const reporterFor = (json: boolean | undefined): RunReporter =>
  json === true ? new JsonLines() : process.stdout.isTTY ? new LiveView(process.stdout) : new PlainView();

export function followCommand(program: Program): void {
  ofRun<{ history: boolean }>(
    program,
    "follow",
    "watch a run until it ends; Ctrl-C leaves it running",
    async (_connection, run, options) => {
      await followHere(run.id, { ...options, history: options.history });
    },
  ).option("--no-history", "show only new output");
}

/** Returns when the run has ended, or the person leaves with Ctrl-C. A run that failed is exit code 1. */
export async function followHere(
  run: string,
  { store, json, history, hear }: FollowHereOptions,
): Promise<Followed> {
  const folder = storeOf(store);
  const client = new DaemonClient({ connect: () => openDaemon(folder) });
  const reporter = reporterFor(json);
  const completions = new Completions(client, run, reporter);
  let timer: NodeJS.Timeout | undefined;
  const presses = new Presses();
  await client.start();
  try {
    const follower = new RunFollower(
      { sendRequest: (method, parameters) => client.send(method, parameters) },
      {
        run,
        history,
        line: (line) => {
          reporter.line(line);
          completions.after(line);
          hear?.(line, client);
        },
      },
    );
    const left = interrupts(run, client, reporter, presses);
    await client.follow(follower, [run]);
    timer = setInterval(() => follower.look(), lookEvery);
    const summary = await Promise.race([follower.done, left]);
    if (summary === null) reporter.say(`Detached. The run continues: gradus runs follow ${run}`);
    else if (summary.status === "failed") process.exitCode = exit.failed;
    return { summary, interrupted: presses.any };
  } finally {
    clearInterval(timer);
    presses.dispose();
    client.dispose();
  }
}

/** One Ctrl-C leaves the run going; two ask it to stop, and its end is waited for; a third leaves at once. */
async function interrupts(
  run: string,
  client: DaemonClient,
  reporter: RunReporter,
  presses: Presses,
): Promise<null> {
  const press = (): Promise<"pressed"> => presses.next();
  await press();
  reporter.say("Detaching; press Ctrl-C once more to stop the run.");
  if ((await Promise.race([press(), wait(secondPress, "left" as const)])) === "left") return null;
  await client.ask(runsControl, { run, action: "stop" });
  reporter.say("Stopping after the current step, with a checkpoint.");
  await press();
  return null;
}

/** One listener as long as a run is followed: between two of `once` the signal would have its old meaning, and end this process. */
class Presses {
  private count = 0;
  private wake: () => void = () => undefined;
  any = false;
  private readonly hear = (): void => {
    this.count += 1;
    this.any = true;
    this.wake();
  };

  constructor() {
    process.on("SIGINT", this.hear);
  }

  /** The next Ctrl-C, each reported once. */
  async next(): Promise<"pressed"> {
    while (this.count === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    this.count -= 1;
    return "pressed";
  }

  dispose(): void {
    process.off("SIGINT", this.hear);
  }
}

/** A few rollouts of the last step, for a reporter that shows them: the best, the worst and one between. */
class Completions {
  private at = Number.NEGATIVE_INFINITY;
  private asking = false;

  constructor(
    private readonly client: DaemonClient,
    private readonly run: string,
    private readonly reporter: RunReporter,
  ) {}

  after(line: RunLine): void {
    const due = performance.now() - this.at >= completionsEvery;
    if (!this.reporter.wantsCompletions || line.type !== "step" || !due || this.asking) return;
    if (line.metrics["rollout/length"] === undefined) return;
    this.at = performance.now();
    this.asking = true;
    this.fetch(line.step)
      .catch((error: unknown) =>
        this.reporter.say(`The rollouts of step ${line.step} can't be shown: ${String(error)}`),
      )
      .finally(() => (this.asking = false));
  }

  private async fetch(step: number): Promise<void> {
    const { rollouts } = await this.client.ask(rolloutsQuery, { run: this.run, step, limit: candidates });
    this.reporter.completions(fewOf(rollouts));
  }
}

export function fewOf(rows: readonly CompletionRow[]): CompletionRow[] {
  const known = rows.filter((row) => Number.isFinite(fromWire(row.reward ?? null)));
  const sorted = [...known].sort((a, b) => fromWire(b.reward ?? null) - fromWire(a.reward ?? null));
  const places = [...new Set([0, Math.floor(sorted.length / 2), sorted.length - 1])];
  return places.flatMap((place) => sorted[place] ?? []);
}
