/** Tests of rewards in the Test Explorer: `*.reward.test.jsonl`, run by hand, on each save of a reward, and before a launch. */
import { basename } from "node:path";
import {
  Location,
  Range,
  TestMessage,
  TestRunProfileKind,
  TestRunRequest,
  Uri,
  tests as testing,
  window,
  workspace,
  type Disposable,
  type TestController,
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
import { failingText, testsIn } from "./model.ts";

const pattern = `**/*${testEnding}`;
const ignored = "**/{node_modules,.git,.gradus}/**";
const mostFiles = 500;

type Tested = ResultOf<typeof rewardTest>;

export class RewardTests implements Disposable {
  /** Made when there is a first test: a workspace without one has no Test Explorer of ours. */
  #controller: TestController | undefined;
  readonly #disposables: Disposable[];

  constructor(
    private readonly stores: Stores,
    private readonly naming: ConfigsNaming,
  ) {
    const watcher = workspace.createFileSystemWatcher(pattern);
    this.#disposables = [
      watcher,
      watcher.onDidCreate((uri) => void this.#read(uri)),
      watcher.onDidChange((uri) => void this.#read(uri)),
      watcher.onDidDelete((uri) => this.#controller?.items.delete(uri.toString())),
      workspace.onDidSaveTextDocument((document) => void this.#saved(document)),
    ];
    void this.#search();
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    this.#controller?.dispose();
  }

  /** Runs tests of a file that has just been written, with their results in the Test Explorer. */
  async show(file: string): Promise<void> {
    const item = await this.#read(Uri.file(file));
    if (item !== undefined) await this.#run(new TestRunRequest([item]));
  }

  /** Asks where tests of the config's rewards fail. @returns whether to start */
  async mayStart(config: Uri): Promise<boolean> {
    if (this.#controller === undefined) return true;
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

  async #search(): Promise<void> {
    for (const uri of await workspace.findFiles(pattern, ignored, mostFiles)) await this.#read(uri);
  }

  #made(): TestController {
    if (this.#controller !== undefined) return this.#controller;
    const controller = testing.createTestController("gradus.rewardTests", "Reward Tests");
    controller.createRunProfile("Run", TestRunProfileKind.Run, (request) => this.#run(request), true);
    controller.refreshHandler = () => this.#search();
    return (this.#controller = controller);
  }

  /** undefined: it has no test. */
  async #read(uri: Uri): Promise<TestItem | undefined> {
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    const text = open?.getText() ?? new TextDecoder().decode(await workspace.fs.readFile(uri));
    const listed = testsIn(text);
    if (listed.length === 0) {
      this.#controller?.items.delete(uri.toString());
      return undefined;
    }
    const controller = this.#made();
    const known = controller.items.get(uri.toString());
    const name = basename(uri.fsPath).slice(0, -testEnding.length);
    const item = known ?? controller.createTestItem(uri.toString(), name, uri);
    item.description = workspace.asRelativePath(uri);
    item.children.replace(
      listed.map(({ line, label, from }) => {
        const before = item.children.get(childOf(uri, line));
        // An item keeps its result as long as it is the same.
        if (before?.label === label) return before;
        const child = controller.createTestItem(childOf(uri, line), label, uri);
        child.description = from;
        child.range = new Range(line, 0, line, 0);
        return child;
      }),
    );
    if (known === undefined) controller.items.add(item);
    return item;
  }

  async #saved(document: TextDocument): Promise<void> {
    if (this.#controller === undefined || !this.stores.trusted || !setting("rewardsCheckOnSave", true))
      return;
    if (document.fileName.endsWith(testEnding)) {
      const item = await this.#read(document.uri);
      if (item !== undefined && this.stores.ofFile(document.uri)?.machine.session !== undefined)
        await this.#run(new TestRunRequest([item]));
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

  /** A file's tests run together: their functions are loaded once. */
  async #run(request: TestRunRequest): Promise<void> {
    const controller = this.#made();
    const wanted = request.include ?? [...controller.items].map(([, item]) => item);
    const files = new Map<string, TestItem>();
    for (const item of wanted) {
      const file = item.parent ?? item;
      files.set(file.id, file);
    }
    const run = controller.createTestRun(request);
    const isWanted = (item: TestItem): boolean =>
      wanted.includes(item) || (item.parent !== undefined && wanted.includes(item.parent));
    for (const file of files.values()) {
      file.children.forEach((item) => isWanted(item) && run.started(item));
      await this.#ask(file.uri!, { files: [file.uri!.fsPath] }).then(
        (tested) => settle(run, controller, tested, isWanted),
        (error: unknown) => run.errored(file, new TestMessage(messageOf(error))),
      );
    }
    run.end();
  }

  /** Results of a run that no one asked the Test Explorer for. */
  #publish(tested: Tested, name: string): void {
    if (this.#controller === undefined || tested.outcomes.length + tested.broken.length === 0) return;
    const run = this.#controller.createTestRun(new TestRunRequest(), name, false);
    settle(run, this.#controller, tested, () => true);
    run.end();
  }

  async #reveal({ outcomes, broken }: Tested): Promise<void> {
    const failed = outcomes.find(({ failure }) => failure !== null);
    const file = failed?.file ?? broken[0]?.file;
    if (file === undefined) return;
    const line = failed?.line ?? 0;
    await window.showTextDocument(Uri.file(file), { selection: new Range(line, 0, line, 0) });
  }
}

const childOf = (uri: Uri, line: number): string => `${uri.toString()}#${line}`;

function settle(
  run: TestRun,
  controller: TestController,
  { outcomes, broken }: Tested,
  isWanted: (item: TestItem) => boolean,
): void {
  for (const { file, line, failure } of outcomes) {
    const uri = Uri.file(file);
    const item = controller.items.get(uri.toString())?.children.get(childOf(uri, line));
    if (item === undefined || !isWanted(item)) continue;
    if (failure === null) run.passed(item);
    else {
      const message = new TestMessage(failure);
      message.location = new Location(uri, new Range(line, 0, line, 0));
      run.failed(item, message);
    }
  }
  for (const { file, message } of broken) {
    const item = controller.items.get(Uri.file(file).toString());
    if (item !== undefined) run.errored(item, new TestMessage(message));
  }
}
