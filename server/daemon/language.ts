/**
 * The language server on a connection that already speaks `gradus/*`. `vscode-languageserver/node` is never used here:
 * its connection ends the whole process when its client leaves. Ours ends the connection.
 */
import { createConnection, type Connection, type ProtocolConnection, type WatchDog } from "vscode-languageserver";

export type AttachLanguage = (connection: Connection) => void;

/**
 * @param listening a connection that listens already: its hello has been answered
 * @param leave closes this connection, and nothing else
 */
export function serveLanguage(listening: ProtocolConnection, attach: AttachLanguage, leave: () => void): void {
  const watchDog: WatchDog = {
    shutdownReceived: false,
    // A client's pid that dies takes its socket with it: nothing to watch.
    initialize: () => undefined,
    exit: leave,
  };
  const connection = createConnection(() => ({ ...listening, listen: () => undefined }), watchDog);
  attach(connection);
  connection.listen();
}
