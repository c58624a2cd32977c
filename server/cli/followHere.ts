/** `gradus runs follow`: the follower on a connection that heals, shown in this terminal or as JSON lines. */
import { DaemonClient } from "../../shared/daemon/client.ts";
import { exit } from "./command.ts";
import { RunFollower } from "./follow.ts";
import { JsonLines, PlainView } from "./runText.ts";
import { LiveView } from "./runView.ts";
import { openDaemon, storeOf } from "./store.ts";
import type { RunReporter } from "./runLines.ts";

export interface FollowHereOptions {
  readonly store?: string;
  readonly json?: boolean;
  readonly history: boolean;
}

/** Returns when the run has ended, or the person leaves with Ctrl-C. A run that failed is exit code 1. */
export async function followHere(run: string, { store, json, history }: FollowHereOptions): Promise<void> {
  const folder = storeOf(store);
  const client = new DaemonClient({ connect: () => openDaemon(folder) });
  const reporter: RunReporter =
    json === true ? new JsonLines() : process.stdout.isTTY ? new LiveView(process.stdout) : new PlainView();
  await client.start();
  try {
    const follower = new RunFollower(
      { sendRequest: (method, parameters) => client.send(method, parameters) },
      { run, history, line: (line) => reporter.line(line) },
    );
    const left = new Promise<null>((resolve) => process.once("SIGINT", () => resolve(null)));
    await client.follow(follower, [run]);
    const summary = await Promise.race([follower.done, left]);
    if (summary === null) reporter.say(`Left. The run goes on: gradus runs follow ${run}`);
    else if (summary.status === "failed") process.exitCode = exit.failed;
  } finally {
    client.dispose();
  }
}
