/** The daemon made visible: how it is, start, stop, restart, its log. */
import { existsSync } from "node:fs";
import { Uri, window, type Disposable } from "vscode";
import { daemonLog } from "../../../shared/daemon/connect.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { formatAge, plural } from "../../../shared/lib/format.ts";
import { daemonShutdown, daemonStatus } from "../../../shared/protocol/protocol.ts";
import { Nothing, execute, register } from "../../vscode/commands.ts";
import { output } from "../../vscode/output.ts";
import type { Store, Stores } from "../connection/stores.ts";

export function registerDaemonCommands(stores: Stores): readonly Disposable[] {
  const withStore = (act: (store: Store) => Promise<void>) => async (): Promise<void> => {
    const store = await pickStore(stores);
    if (store !== undefined) await act(store);
  };
  return [
    register(
      "daemonStatus",
      withStore((store) => showStatus(stores, store)),
    ),
    register(
      "daemonStart",
      withStore(async (store) => void (await stores.session(store))),
    ),
    register(
      "daemonStop",
      withStore(async (store) => void (await stop(store))),
    ),
    register(
      "daemonRestart",
      withStore(async (store) => {
        if (await stop(store)) await stores.session(store);
      }),
    ),
    register("daemonLog", withStore(openLog)),
    register("outputShow", () => output().show()),
  ];
}

async function pickStore(stores: Stores): Promise<Store | undefined> {
  const all = stores.all;
  if (all.length === 0) {
    if (!stores.trusted)
      throw new UserError("The daemon needs a trusted workspace.", { action: "Trust this workspace first." });
    throw new UserError("No folder is open, so there is no store and no daemon.", {
      action: "Open a folder.",
    });
  }
  if (all.length === 1) return all[0];
  const items = all.map((store) => ({
    label: store.folders.map((folder) => folder.name).join(", "),
    description: store.path,
    store,
  }));
  return (await window.showQuickPick(items, { title: "Store" }))?.store;
}

async function openLog({ path }: Store): Promise<void> {
  const log = daemonLog(path);
  if (!existsSync(log))
    throw new Nothing("No daemon has been started here, so there is no log.", "See Gradus: Show Output.");
  await window.showTextDocument(Uri.file(log));
}

async function showStatus(stores: Stores, store: Store): Promise<void> {
  const { state } = store.machine;
  if (state.state !== "ready") {
    const reason = state.state === "failed" || state.state === "reconnecting" ? `: ${state.reason}` : "";
    const answer = await window.showInformationMessage(
      `The daemon is ${state.state}${reason}`,
      "Start Daemon",
      "Open Log",
    );
    if (answer === "Start Daemon") await stores.session(store);
    if (answer === "Open Log") await execute("daemonLog");
    return;
  }
  const status = await state.session.ask(daemonStatus, {});
  const item = (label: string, description: string): { label: string; description: string } => ({
    label,
    description,
  });
  const chosen = await window.showQuickPick(
    [
      item(
        "$(check) Running",
        `pid ${status.pid}, version ${status.version}, started ${formatAge(Date.now() - Date.parse(status.startedAt))}`,
      ),
      item("$(pulse) Live runs", plural(status.live, "run")),
      item("$(plug) Clients", plural(status.clients, "connection")),
      item("$(database) Store", `${status.store} (${status.driver})`),
      item("$(server-process) Node", status.node),
      item(
        "$(dashboard) Event loop",
        `median ${status.eventLoop.p50.toFixed(1)} ms, 99th percentile ${status.eventLoop.p99.toFixed(1)} ms`,
      ),
      item("$(output) Open Log", status.log),
    ],
    { title: "Gradus daemon" },
  );
  if (chosen?.label.includes("Open Log") === true) await execute("daemonLog");
}

/** False: refused, or the person changed their mind. Runs continue either way. */
async function stop(store: Store): Promise<boolean> {
  const session = store.machine.session;
  if (session === undefined) {
    store.machine.stop();
    return true;
  }
  let answer = await session.ask(daemonShutdown, { force: false });
  if (!answer.accepted) {
    const detail = "The runs continue without it, and the next daemon finds them.";
    const chosen = await window.showWarningMessage(
      answer.reason ?? "The daemon serves live runs.",
      { modal: true, detail },
      "Stop Daemon",
    );
    if (chosen !== "Stop Daemon") return false;
    answer = await session.ask(daemonShutdown, { force: true });
  }
  store.machine.stop();
  return answer.accepted;
}
