/** Tests of rewards in the Test Explorer: `*.reward.test.jsonl`, run by hand, on each save of a reward, and before a launch. */
import {
  Location,
  Range,
  TestMessage,
  TestRunRequest,
  Uri,
  window,
  workspace,
  type Disposable,
  type TestItem,
  type TestRun,
  type TextDocument,
} from "vscode";
import { messageOf } from "../../../shared/lib/errors.ts";
import { rewardTest, type ResultOf } from "../../../shared/protocol/protocol.ts";
import { testEnding } from "../../../shared/rollouts/expectation.ts";
import { output } from "../../vscode/output.ts";
import { setting } from "../../vscode/settings.ts";
import type { Stores } from "../connection/stores.ts";
import { pythonPath } from "../language/python.ts";
import { mayBeConfig, mayBeReward, type ConfigsNaming } from "../rescore/naming.ts";
import { TestFiles, type ListedTest } from "../testFiles/testFiles.ts";
import { failingText, testsIn } from "./model.ts";

type Tested = ResultOf<typeof rewardTest>;

export class RewardTests implements Disposable {
  readonly #files: TestFiles;
  readonly #saves: Disposable;

  constructor(
    private readonly stores: Stores,
    private readonly naming: ConfigsNaming,
  ) {
    this.#files = new TestFiles({
      id: "gradus.rewardTests",
      title: "Reward Tests",
      ending: testEnding,
      list: listed,
      run: async (file, run, isWanted) => {
        const uri = file.uri!;
        this.#settle(run, await this.#ask(uri, { files: [uri.fsPath] }), isWanted);
      },
    });
    this.#saves = workspace.onDidSaveTextDocument((document) => void this.#saved(document));
  }

  dispose(): void {
    this.#saves.dispose();
    this.#files.dispose();
  }

  /** Runs tests of a file that has just been written, with their results in the Test Explorer. */
  async show(file: string): Promise<void> {
    await this.#run(Uri.file(file));
  }

  async #run(uri: Uri): Promise<void> {
    const item = await this.#files.read(uri);
    if (item !== undefined) await this.#files.run(new TestRunRequest([item]));
  }

  /** Asks where tests of the config's rewards fail. @returns whether to start */
  async mayStart(config: Uri): Promise<boolean> {
    if (this.#files.isEmpty) return true;
    const tested = await this.#ask(config, { uri: config.toString() }).catch((error: unknown) => {
      // What is wrong with the config, the launch says itself.
      output().warn(`tests of ${config.fsPath}: ${messageOf(error)}`);
      return undefined;
    });
    if (tested === undefined) return true;
    this.#publish(tested, "before a launch");
    const failing = failingText(tested.outcomes, tested.broken);
    if (failing === undefined) return true;
    const { title, detail } = failing;
    const answer = await window.showWarningMessage(title, { modal: true, detail }, "Run Anyway", "Show");
    if (answer === "Show") await this.#reveal(tested);
    return answer === "Run Anyway";
  }

  async #saved(document: TextDocument): Promise<void> {
    if (this.#files.isEmpty || !this.stores.trusted || !setting("rewardsCheckOnSave", true)) return;
    if (document.fileName.endsWith(testEnding)) {
      if (this.stores.ofFile(document.uri)?.machine.session !== undefined) await this.#run(document.uri);
      return;
    }
    const configs = mayBeConfig(document)
      ? [document.uri]
      : mayBeReward(document)
        ? await this.naming.of(document.fileName)
        : [];
    for (const config of configs) {
      // What is merely saved must not start a daemon.
      if (this.stores.ofFile(config)?.machine.session === undefined) continue;
      try {
        this.#publish(await this.#ask(config, { uri: config.toString() }), "on save");
      } catch (error) {
        output().warn(`tests of ${config.fsPath}: ${messageOf(error)}`);
      }
    }
  }

  async #ask(
    near: Uri,
    what: { readonly uri: string } | { readonly files: readonly string[] },
  ): Promise<Tested> {
    const session = await this.stores.session(this.stores.ofFile(near));
    const python = pythonPath();
    return session.ask(rewardTest, {
      ...("uri" in what ? what : { files: [...what.files] }),
      trusted: workspace.isTrusted,
      ...(python !== undefined && { python }),
    });
  }

  async #reveal({ outcomes, broken }: Tested): Promise<void> {
    const failed = outcomes.find(({ failure }) => failure !== null);
    const file = failed?.file ?? broken[0]?.file;
    if (file === undefined) return;
    const line = failed?.line ?? 0;
    await window.showTextDocument(Uri.file(file), { selection: new Range(line, 0, line, 0) });
  }

  #publish(tested: Tested, name: string): void {
    if (tested.outcomes.length + tested.broken.length === 0) return;
    this.#files.publish(name, (run) => this.#settle(run, tested, () => true));
  }

  #settle(run: TestRun, { outcomes, broken }: Tested, isWanted: (item: TestItem) => boolean): void {
    for (const { file, line, failure } of outcomes) {
      const uri = Uri.file(file);
      const item = this.#files.test(uri, line);
      if (item === undefined || !isWanted(item)) continue;
      if (failure === null) run.passed(item);
      else {
        const message = new TestMessage(failure);
        message.location = new Location(uri, new Range(line, 0, line, 0));
        run.failed(item, message);
      }
    }
    for (const { file, message } of broken) {
      const item = this.#files.file(Uri.file(file));
      if (item !== undefined) run.errored(item, new TestMessage(message));
    }
  }
}

/** A file without a test is not listed. */
function listed(text: string): readonly ListedTest[] | undefined {
  const tests = testsIn(text);
  return tests.length === 0
    ? undefined
    : tests.map(({ line, label, from }) => ({ line, label, description: from }));
}
