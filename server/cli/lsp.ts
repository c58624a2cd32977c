import { createConnection, type CancellationToken, type Connection } from "vscode-languageserver";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { rewardGold } from "../../shared/protocol/protocol.ts";
import { answers } from "../daemon/answers.ts";
import { asResponse } from "../daemon/failure.ts";
import { RewardChecker } from "../daemon/rewardChecks/rewardChecker.ts";
import { attachLanguage } from "../language/index.ts";
import { complain, exit, type Command } from "./command.ts";

declare const GRADUS_VERSION: string;

/**
 * The language server alone: no store, no daemon, no right to run anything but the reward that a client counts reference answers
 * with, in a workspace that it says is trusted. Ends with its client.
 */
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
  const closeRewards = serveRewards(connection);
  // A client that dies takes its server along: there is nothing to lose.
  const leave = (): void =>
    void closeRewards().finally(() => process.exit(watchDog.shutdownReceived ? exit.ok : exit.failed));
  process.stdin.on("end", leave);
  process.stdin.on("close", leave);
  process.on("uncaughtException", (error) => complain(`gradus lsp: ${error.stack ?? error.message}`));
  return connection;
}

/** What tries rewards is loaded when it is first asked. @returns ends what is under way */
function serveRewards(connection: Connection): () => Promise<void> {
  const checker = new RewardChecker();
  const gold = answers(rewardGold, async (parameters) => {
    const { goldOfReward } = await import("../daemon/rewardChecks/answer.ts");
    return goldOfReward(checker, parameters);
  });
  for (const [method, answer] of Object.entries(gold))
    connection.onRequest(method, async (parameters: unknown, token: CancellationToken) => {
      try {
        return await answer(parameters, token);
      } catch (error) {
        throw asResponse(error);
      }
    });
  return () => checker.close();
}
