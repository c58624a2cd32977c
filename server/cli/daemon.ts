import type { Command as Program } from "commander";
import { existsSync, readFileSync } from "node:fs";
import { daemonLog } from "../../shared/daemon/connect.ts";
import type { DaemonLink } from "../../shared/daemon/handshake.ts";
import { endDaemon, findServing, isGone } from "../../shared/daemon/owner.ts";
import { placeText } from "../../shared/daemon/place.ts";
import type { ProcessIdentity } from "../../shared/daemon/process.ts";
import { ask } from "../../shared/daemon/request.ts";
import type { DaemonState } from "../../shared/daemon/state.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { daemonShutdown, daemonStatus, type DaemonStatus } from "../../shared/protocol/protocol.ts";
import { exit, print, printJson, type Command } from "./command.ts";
import { whole } from "./options.ts";
import { daemonState, storeOf } from "./runs/store.ts";

/** Milliseconds that a daemon which answered may take to stop on its own. */
const closingTime = 20_000;

interface Options {
  readonly store?: string;
  readonly json?: boolean;
  readonly force?: boolean;
  readonly lines?: number;
}

export const command: Command = {
  name: "daemon",
  configure: (program) => {
    sub(program, "status", "whether a daemon serves this store, and its state", status, true);
    sub(program, "stop", "stop it; live runs continue without it", stop).option(
      "--force",
      "even with live runs",
    );
    sub(program, "logs", "print the end of its log", logs).option(
      "--lines <n>",
      "how many lines",
      whole(1),
      100,
    );
    program
      .command("serve", { hidden: true })
      .description("started by the first client of a store")
      .requiredOption("--store <folder>", "the store to serve")
      .action(async ({ store }: { store: string }) => {
        const { serveStore } = await import("./serve/daemonProcess.ts");
        await serveStore(store);
      });
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
  const found = await daemonState(store);
  if (found.state !== "serving") return withoutAnswer(store, found, json === true);
  const { link } = found;
  const answer = await over(link, () => ask(link.connection(), daemonStatus, {}));
  if (json === true) return printJson({ running: true, ...answer });
  print(lines(answer).join("\n"));
}

type Silent = Exclude<DaemonState, { readonly state: "serving" }>;

function withoutAnswer(store: string, found: Silent, json: boolean): void {
  if (found.state === "none") {
    if (json) return printJson({ running: false, store });
    return print(`No daemon serves ${store}. The next run starts one.`);
  }
  process.exitCode = exit.failed;
  const { pid } = found.state === "unreachable" ? found.identity : found;
  const where = found.state === "unreachable" ? "" : ` ${placeText(found.place)}`;
  const reason = found.state === "unreachable" ? found.reason : `it runs${where}`;
  if (json) return printJson({ running: true, reachable: false, pid, store, reason });
  print(
    found.state === "unreachable"
      ? `A daemon (pid ${pid}) serves ${store} and cannot be reached: ${reason}.\nStop it, then start again: gradus daemon stop. Runs continue without it.`
      : `A daemon (pid ${pid}) serves ${store}${where}.\nWork there, or stop it there: gradus daemon stop. Runs continue without it.`,
  );
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
  const found = await daemonState(store);
  if (found.state === "none")
    return json === true
      ? printJson({ stopped: false, reason: "not running" })
      : print(`No daemon serves ${store}.`);
  if (found.state === "elsewhere")
    throw new UserError(`The daemon of ${store} runs ${placeText(found.place)} (pid ${found.pid} there).`, {
      code: "busy",
      action: "Stop it there: gradus daemon stop.",
    });
  if (found.state === "unreachable") return finish(store, found.identity, json === true);
  const { link } = found;
  const serving = findServing(store);
  const answer = await over(link, () => ask(link.connection(), daemonShutdown, { force: force ?? false }));
  if (!answer.accepted) {
    process.exitCode = exit.failed;
    if (json === true) return printJson({ stopped: false, reason: answer.reason });
    throw new UserError(`The daemon keeps running: ${answer.reason ?? "it is busy"}.`, {
      action: "Stop the runs first, or stop it anyway: gradus daemon stop --force. Runs continue without it.",
    });
  }
  // It closes its store first, which may take a while; one that never ends is ended.
  if (serving.state !== "here" || (await isGone(serving.identity, closingTime))) return ended(json === true);
  await finish(store, serving.identity, json === true);
}

/** It does not answer, or does not stop on its own: its process is ended. Runs continue. */
async function finish(store: string, identity: ProcessIdentity, json: boolean): Promise<void> {
  if (await endDaemon(store, identity)) return ended(json);
  throw new UserError(`The daemon (pid ${identity.pid}) does not stop.`, {
    code: "daemon-stuck",
    action: `End the process yourself: kill -9 ${identity.pid}. Runs continue without it.`,
  });
}

const ended = (json: boolean): void =>
  json ? printJson({ stopped: true }) : print("The daemon has stopped.");

function logs(store: string, { lines: count = 100, json }: Options): void {
  const path = daemonLog(store);
  if (!existsSync(path))
    throw new UserError(`There is no log at ${path}.`, {
      file: path,
      action: "No daemon has served this store yet.",
    });
  // Of a log that was set aside just now, the end is in the file before it.
  const wanted = [`${path}.1`, path]
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, "utf8").trimEnd().split("\n"))
    .slice(-count);
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
