import type { Command as Program } from "commander";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { daemonLog } from "../../shared/daemon/connect.ts";
import { readDiscovery } from "../../shared/daemon/discovery.ts";
import type { DaemonLink } from "../../shared/daemon/handshake.ts";
import { isAlive } from "../../shared/daemon/process.ts";
import { ask } from "../../shared/daemon/request.ts";
import { runtimePaths } from "../../shared/daemon/runtime.ts";
import { UserError } from "../../shared/errors.ts";
import { daemonShutdown, daemonStatus, type DaemonStatus } from "../../shared/protocol.ts";
import { exit, print, printJson, type Command } from "./command.ts";
import { whole } from "./options.ts";
import { presentDaemon, storeOf } from "./store.ts";

interface Options {
  readonly store?: string;
  readonly json?: boolean;
  readonly force?: boolean;
  readonly lines?: number;
}

export const command: Command = {
  name: "daemon",
  configure: (program) => {
    sub(program, "status", "whether a daemon serves this store, and how it is", status, true);
    sub(program, "stop", "end it; live runs go on by themselves", stop).option(
      "--force",
      "even with live runs",
    );
    sub(program, "logs", "the end of its log", logs).option("--lines <n>", "how many lines", whole(1), 100);
  },
};

function sub(
  program: Program,
  name: string,
  summary: string,
  act: (store: string, options: Options) => Promise<void> | void,
  isDefault = false,
): Program {
  return program
    .command(name, { isDefault })
    .description(summary)
    .option("--store <folder>", "the store, or a folder in its workspace")
    .option("--json", "one JSON value")
    .action((options: Options) => act(storeOf(options.store), options));
}

async function status(store: string, { json }: Options): Promise<void> {
  const link = existsSync(store) ? await presentDaemon(store) : null;
  if (link === null) {
    if (json === true) return printJson({ running: false, store });
    return print(`No daemon serves ${store}. The next run starts one.`);
  }
  const answer = await over(link, () => ask(link.connection(), daemonStatus, {}));
  if (json === true) return printJson({ running: true, ...answer });
  print(lines(answer).join("\n"));
}

function lines(answer: DaemonStatus): string[] {
  const idle = answer.idleSeconds === null ? "in use" : `idle for ${answer.idleSeconds} s`;
  return [
    `daemon ${answer.version} (protocol ${answer.protocol}), pid ${answer.pid}, since ${answer.startedAt}`,
    `store    ${answer.store}`,
    `node     ${answer.node}`,
    `sqlite   ${answer.driver}`,
    `socket   ${answer.socket}`,
    `log      ${answer.log}`,
    `live     ${answer.live} ${answer.live === 1 ? "run" : "runs"}, ${answer.clients} ${answer.clients === 1 ? "client" : "clients"}, ${idle}`,
    `delay    p50 ${answer.eventLoop.p50} ms, p99 ${answer.eventLoop.p99} ms`,
  ];
}

async function stop(store: string, { json, force }: Options): Promise<void> {
  const link = existsSync(store) ? await presentDaemon(store) : null;
  if (link === null)
    return json === true
      ? printJson({ stopped: false, reason: "not running" })
      : print(`No daemon serves ${store}.`);
  const answer = await over(link, () => ask(link.connection(), daemonShutdown, { force: force ?? false }));
  if (!answer.accepted) {
    process.exitCode = exit.failed;
    if (json === true) return printJson({ stopped: false, reason: answer.reason });
    throw new UserError(`The daemon goes on: ${answer.reason ?? "it is busy"}.`, {
      action:
        "Stop the runs first, or end it all the same: gradus daemon stop --force. Runs go on without it.",
    });
  }
  const { discovery } = runtimePaths(store);
  while (
    isAlive({ pid: link.hello.pid, processStart: "" }) &&
    (readDiscovery(discovery)?.instance ?? link.hello.instance) === link.hello.instance
  )
    await wait(20);
  if (json === true) printJson({ stopped: true });
  else print("The daemon has ended.");
}

function logs(store: string, { lines: count = 100, json }: Options): void {
  const path = daemonLog(store);
  if (!existsSync(path))
    throw new UserError(`There is no log at ${path}.`, {
      file: path,
      action: "No daemon has served this store yet.",
    });
  const wanted = readFileSync(path, "utf8").trimEnd().split("\n").slice(-count);
  if (json === true) printJson({ log: path, lines: wanted });
  else print(wanted.join("\n"));
}

async function over<Result>(link: DaemonLink, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } finally {
    link.close();
  }
}
