import { createConnection, type Connection } from "vscode-languageserver";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { attachLanguage } from "../language/index.ts";
import { complain, exit, type Command } from "./command.ts";

declare const GRADUS_VERSION: string;

/** The language server alone: no store, no daemon, no right to run anything. Ends with its client. */
export const command: Command = {
  name: "lsp",
  configure: (program) => {
    program.requiredOption("--stdio", "speak the Language Server Protocol on stdin and stdout").action(() => {
      // stdout is the protocol's alone.
      console.log = console.info = console.debug = (...words: unknown[]) => complain(words.join(" "));
      serve().listen();
    });
  },
};

function serve(): Connection {
  const watchDog = {
    shutdownReceived: false,
    initialize: () => undefined,
    exit: (code: number) => process.exit(code),
  };
  const connection = createConnection(
    (logger) =>
      createProtocolConnection(
        new StreamMessageReader(process.stdin),
        new StreamMessageWriter(process.stdout),
        logger,
      ),
    watchDog,
  );
  attachLanguage(connection, { version: GRADUS_VERSION });
  // A client that dies takes its server along: there is nothing to lose.
  process.stdin.on("end", () => process.exit(watchDog.shutdownReceived ? exit.ok : exit.failed));
  process.stdin.on("close", () => process.exit(watchDog.shutdownReceived ? exit.ok : exit.failed));
  process.on("uncaughtException", (error) => complain(`gradus lsp: ${error.stack ?? error.message}`));
  return connection;
}
