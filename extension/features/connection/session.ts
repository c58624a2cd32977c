/** One connection to a store's daemon: LSP and `gradus/*` over the same socket. */
import { workspace, type WorkspaceFolder } from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type DocumentSelector,
  type LanguageClientOptions,
  type MessageTransports,
  type ServerOptions,
} from "vscode-languageclient/node";
import { language } from "../../../shared/editor/contributions.ts";
import { connectOrStart } from "../../../shared/daemon/connect.ts";
import type { DaemonLink } from "../../../shared/daemon/handshake.ts";
import { ask, type Requester } from "../../../shared/daemon/request.ts";
import { changed, type Change } from "../../../shared/protocol/protocol.ts";
import { output } from "../../vscode/output.ts";
import { followPython } from "../language/python.ts";
import { followShown, shownByUs } from "../language/shown.ts";
import type { Asker } from "./asker.ts";
import { Emitter } from "./emitter.ts";
import type { FoundNode } from "./node.ts";
import type { Session } from "./state.ts";

export interface Launch {
  readonly node: FoundNode;
  readonly cli: string;
  readonly version: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Folders whose configs the language server answers for. */
  readonly folders: readonly WorkspaceFolder[];
}

interface ChangeBatch {
  readonly cursor: number;
  readonly changes: readonly Change[];
}

/** What features ask the daemon through. */
export interface DaemonSession extends Session, Asker {
  readonly link: DaemonLink;
  readonly changes: Emitter<ChangeBatch>;
}

/** Its troubles are the connection's, which the views and the state machine tell in words: they go to the output alone. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

const stdioArguments = (cli: string): string[] => [cli, "lsp", "--stdio"];

/** Configurations of verl, TRL and OpenRLHF are recognised by their content: the server is silent about all other files. */
const answered = [language.id, "yaml", "shellscript", "python"];
/** Of files, and of what is not saved yet: an extension for git opens every file once more, as it was. */
const schemesAnswered = ["file", "untitled"];
/** Of Jupyter's notebooks the cells of Python: they have a scheme of their own, and their notebook's path. */
const cells = { notebook: "jupyter-notebook", language: "python" };

function answeredIn(folders: readonly WorkspaceFolder[]): DocumentSelector {
  if (folders.length === 0)
    return [...schemesAnswered.flatMap((scheme) => answered.map((id) => ({ scheme, language: id }))), cells];
  return folders.flatMap((folder) => {
    const pattern = { baseUri: folder.uri.toString(), pattern: "**/*" };
    return [
      ...answered.map((id) => ({ scheme: "file", language: id, pattern })),
      { notebook: { notebookType: cells.notebook, pattern }, language: cells.language },
    ];
  });
}

/** A notebook is sent whole, to the one server that answers for its folder. */
const notebooksIn = (
  folders: readonly WorkspaceFolder[],
): NonNullable<LanguageClientOptions["notebookDocumentOptions"]> => ({
  filterCells: ({ uri }, all) => {
    const folder = workspace.getWorkspaceFolder(uri)?.uri.toString();
    const isOurs = folders.length === 0 || folders.some((one) => one.uri.toString() === folder);
    return isOurs && schemesAnswered.includes(uri.scheme) ? all : [];
  },
});

function clientOptions(folders: readonly WorkspaceFolder[], closed: () => void): LanguageClientOptions {
  const first = folders[0];
  return {
    documentSelector: answeredIn(folders),
    notebookDocumentOptions: notebooksIn(folders),
    ...(first === undefined ? {} : { workspaceFolder: first }),
    outputChannel: output(),
    ...shownByUs(),
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue }),
      closed: () => {
        closed();
        // Reconnecting is the state machine's work: it finds or starts the daemon first.
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
}

/** The language server as a child of this window: for untrusted workspaces, and next to an older daemon. */
export function stdioClient(launch: Launch): LanguageClient {
  const run = {
    command: launch.node.path,
    args: stdioArguments(launch.cli),
    options: { env: { ...process.env, ...launch.environment } },
  };
  const server: ServerOptions = { run, debug: run };
  return new QuietClient(
    "gradus",
    "Gradus",
    server,
    clientOptions(launch.folders, () => undefined),
  );
}

export async function openSession(
  store: string,
  launch: Launch,
  shaking: () => void,
): Promise<DaemonSession> {
  const link = await connectOrStart({
    store,
    role: "editor",
    version: launch.version,
    node: launch.node.path,
    cli: launch.cli,
    environment: launch.environment,
  });
  shaking();
  output().info(
    `daemon ${link.hello.instance} of ${store}: pid ${link.hello.pid}, version ${link.hello.version}, ${link.mode}`,
  );
  return link.mode === "full" ? overOneConnection(link, launch) : withOlderDaemon(link, launch);
}

async function overOneConnection(link: DaemonLink, launch: Launch): Promise<DaemonSession> {
  const gone = new Emitter<string>();
  const changes = new Emitter<ChangeBatch>();
  const transports: MessageTransports = link.transports();
  const closed = (): void => gone.fire("The daemon closed the connection.");
  const client = new QuietClient(
    "gradus",
    "Gradus",
    () => Promise.resolve(transports),
    clientOptions(launch.folders, closed),
  );
  client.onNotification(changed.method, (batch: ChangeBatch) => changes.fire(batch));
  await client.start();
  link.socket.once("close", closed);
  return session(link, client, changes, gone, client);
}

/** An older daemon with live runs keeps serving them; this window uses a language server of its own. */
async function withOlderDaemon(link: DaemonLink, launch: Launch): Promise<DaemonSession> {
  const gone = new Emitter<string>();
  const changes = new Emitter<ChangeBatch>();
  const connection = link.connection();
  connection.onNotification(changed.method, (batch: ChangeBatch) => changes.fire(batch));
  connection.onClose(() => gone.fire("The older daemon closed the connection."));
  const client = stdioClient(launch);
  await client.start();
  return session(link, connection, changes, gone, client);
}

function session(
  link: DaemonLink,
  requester: Requester,
  changes: Emitter<ChangeBatch>,
  gone: Emitter<string>,
  client: LanguageClient,
): DaemonSession {
  let reported = false;
  const following = [followShown(client), followPython(client)];
  const end = (): Promise<void> => {
    for (const one of following) one.dispose();
    return client.dispose();
  };
  return {
    link,
    changes,
    ask: (request, parameters, token) => ask(requester, request, parameters, token),
    onClosed: (listener) =>
      void gone.on((reason) => {
        if (reported) return;
        reported = true;
        end().catch((error: unknown) => output().debug(`language client: ${String(error)}`));
        listener(reason);
      }),
    close: () => {
      reported = true;
      end()
        .catch((error: unknown) => output().debug(`language client: ${String(error)}`))
        .finally(() => link.close());
    },
  };
}
