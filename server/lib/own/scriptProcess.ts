/** A Node process that runs a user's code, in a bundled host of ours: messages over the channel of a fork. */
import { fork, type ChildProcess, type ForkOptions, type SpawnOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import { OwnProcess } from "./ownProcess.ts";
import { markName } from "./processGroup.ts";
import { admit } from "./withheld.ts";

export abstract class ScriptProcess<Question extends object, Answer extends object> extends OwnProcess<
  Question,
  Answer
> {
  /** @param host the bundled file that runs in the process */
  protected constructor(host: string, folder: string) {
    admit("A file of this config", folder);
    const mark = randomUUID();
    super(started(host, folder, mark), mark);
    this.child.on("message", (message: Answer | null) => {
      if (typeof message === "object" && message !== null) this.hear(message);
    });
    // An ending process closes its channel first, and how it ended says more.
    this.child.on(
      "disconnect",
      () => void setTimeout(() => this.end("the process closed its channel"), 500).unref(),
    );
  }

  protected send(question: Question): void {
    this.child.send(question, (error) => {
      if (error !== null) this.end(`could not be called: ${error.message}`);
    });
  }
}

function started(host: string, folder: string, mark: string): ChildProcess {
  const options: ForkOptions & Pick<SpawnOptions, "windowsHide"> = {
    cwd: folder,
    serialization: "advanced",
    execArgv: ["--enable-source-maps"],
    // A group of its own, so that what the user's code starts ends with it.
    detached: process.platform !== "win32",
    windowsHide: true,
    env: { ...process.env, [markName]: mark },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  };
  return fork(host, [], options);
}
