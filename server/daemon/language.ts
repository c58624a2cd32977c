/**
 * The language server on a connection that already speaks `gradus/*`. `vscode-languageserver/node` is never used here:
 * its connection ends the whole process when its client leaves. Ours ends the connection.
 */
import { createConnection, type ProtocolConnection, type WatchDog } from "vscode-languageserver";
import { attachLanguage } from "../language/index.ts";
import { ConfigFiles } from "./config/configFiles.ts";
import { StoreEvidence } from "./evidence.ts";
import type { OpenFileRuns } from "./fileRuns.ts";
import { StoreRescoring } from "./rescore/liveRescore.ts";
import type { Rescorer } from "./rescore/rescorer.ts";
import type { RemoteStore } from "../store/remote.ts";

/** What the language server of the daemon knows in addition to the text. */
export interface LanguageSources {
  readonly runs: OpenFileRuns;
  readonly remote: Pick<RemoteStore, "call">;
  readonly rescorer: Rescorer;
}

/**
 * @param listening a connection that listens already: its hello has been answered
 * @param leave closes this connection, and nothing else
 * @returns to be called when the connection is gone
 */
export function serveLanguage(
  listening: ProtocolConnection,
  version: string,
  leave: () => void,
  failed: (error: unknown) => void,
  { runs, remote, rescorer }: LanguageSources,
): () => void {
  const watchDog: WatchDog = {
    shutdownReceived: false,
    // A client whose process dies takes its socket with it: there is nothing to watch.
    initialize: () => undefined,
    exit: leave,
  };
  const connection = createConnection(() => ({ ...listening, listen: () => undefined }), watchDog);
  const files = new ConfigFiles(() => attached.revalidate(), failed);
  const evidence = new StoreEvidence(runs);
  const rescoring = new StoreRescoring(
    runs,
    remote,
    rescorer,
    evidence.rewardFiles,
    () => evidence.enabled,
    failed,
  );
  const attached = attachLanguage(connection, {
    version,
    evidence,
    rescoring,
    onDocuments: (configs) => {
      files.follow(configs.flatMap((config) => config.files));
      evidence.follow(configs.map(({ file }) => file));
    },
  });
  connection.listen();
  return () => {
    files.close().catch(failed);
    evidence.dispose();
    rescoring.dispose();
    attached.dispose();
  };
}
