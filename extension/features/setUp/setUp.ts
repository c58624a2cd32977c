/** Building the native parts once, where an installed extension has none; progress is reported line by line. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { ProgressLocation, window, type Disposable } from "vscode";
import { UserError } from "../../../shared/lib/errors.ts";
import { slower, toGpu } from "../../../shared/lib/systemWords.mjs";
import { register } from "../../vscode/commands.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import { Emitter } from "../connection/emitter.ts";
import {
  findNode,
  nativeRoot,
  recordedNode,
  requireNode,
  slowEngine,
  type Places,
} from "../connection/node.ts";
import { progressText } from "./progressText.ts";

export class SetUp {
  /** What is being done; undefined when nothing is. */
  readonly progress = new Emitter<string | undefined>();
  #running: Promise<void> | undefined;

  /** @param settled called when it is done, before its caller continues */
  constructor(
    private readonly places: Places,
    private readonly settled: () => Promise<void>,
  ) {}

  get needed(): boolean {
    return recordedNode(this.places) === undefined;
  }

  register(): Disposable {
    return register("engineSetUp", () => this.run());
  }

  /** True when compute is there, if need be after asking and building it. */
  async ensure(): Promise<boolean> {
    if (!this.needed) return true;
    const detail = `TensorFlow's library, some 0.3 GB, is fetched once for this machine. It takes a few minutes and needs the network. Where there is none, runs compute on WebAssembly, ${slower}. ${toGpu()}`;
    const answer = await window.showInformationMessage(
      "Set up compute to run this config?",
      { modal: true, detail },
      "Set Up Compute",
    );
    if (answer !== "Set Up Compute") return false;
    await this.run();
    return !this.needed;
  }

  /** One at a time: a second call waits for the first. */
  run(): Promise<void> {
    this.#running ??= this.#build().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #build(): Promise<void> {
    const node = requireNode(findNode(this.places, setting("nodePath", "")));
    const options = {
      location: ProgressLocation.Notification,
      title: "Setting up compute",
      cancellable: true,
    };
    try {
      await window.withProgress(options, (bar, cancel) => {
        const say = (line: string): void => {
          bar.report({ message: line });
          this.progress.fire(line);
        };
        return this.#spawn(node.path, say, (stop) => cancel.onCancellationRequested(stop));
      });
      await this.settled();
      const slow = slowEngine(this.places);
      if (slow !== undefined) void window.showWarningMessage(slow);
    } finally {
      this.progress.fire(undefined);
    }
  }

  #spawn(node: string, say: (line: string) => void, onCancel: (stop: () => void) => void): Promise<void> {
    const root = nativeRoot(this.places);
    return new Promise((resolve, reject) => {
      const child = spawn(node, ["scripts/setup.mjs", "--again"], {
        cwd: this.places.home,
        env: { ...process.env, GRADUS_NATIVE_ROOT: root },
        stdio: ["ignore", "ignore", "pipe"],
        windowsHide: true,
      });
      const tail: string[] = [];
      createInterface({ input: child.stderr }).on("line", (line) => {
        output().info(`set-up: ${line}`);
        tail.push(line);
        const progress = progressText(line);
        if (progress !== undefined) say(progress);
      });
      onCancel(() => child.kill());
      child.once("error", reject);
      child.once("close", (status) => {
        if (status === 0) return resolve();
        reject(
          new UserError(`Setting up compute failed: ${tail.slice(-2).join(" ")}`, {
            action: "The output has the details; `gradus doctor` says what is missing.",
          }),
        );
      });
    });
  }
}
