/** Tests of curricula in the Test Explorer: `*.curriculum.test.yaml`, run by hand and on each save of one or of its config. */
import { basename, dirname, resolve } from "node:path";
import {
  Location,
  Position,
  Range,
  TestMessage,
  TestRunProfileKind,
  TestRunRequest,
  Uri,
  tests as testing,
  workspace,
  type Disposable,
  type TestController,
  type TestItem,
  type TestRun,
  type TextDocument,
} from "vscode";
import { messageOf } from "../../../shared/lib/errors.ts";
import { curriculumTest, type ResultOf } from "../../../shared/protocol/protocol.ts";
import { curriculumTestEnding } from "../../../shared/run/curriculumTests.ts";
import { setting } from "../../vscode/settings.ts";
import type { Stores } from "../connection/stores.ts";
import { testsIn, type ListedTest } from "./model.ts";

const pattern = `**/*${curriculumTestEnding}`;
const ignored = "**/{node_modules,.git,.gradus}/**";
const mostFiles = 500;

type Tested = ResultOf<typeof curriculumTest>;

export class CurriculumTests implements Disposable {
  /** Made when there is a first test: a workspace without one has no Test Explorer of ours. */
  #controller: TestController | undefined;
  /** The config that each file is about, by the file's URI. */
  readonly #configs = new Map<string, string>();
  readonly #disposables: Disposable[];

  constructor(private readonly stores: Stores) {
    const watcher = workspace.createFileSystemWatcher(pattern);
    this.#disposables = [
      watcher,
      watcher.onDidCreate((uri) => void this.#read(uri)),
      watcher.onDidChange((uri) => void this.#read(uri)),
      watcher.onDidDelete((uri) => this.#forget(uri)),
      workspace.onDidSaveTextDocument((document) => void this.#saved(document)),
    ];
    void this.#search();
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    this.#controller?.dispose();
  }

  async #search(): Promise<void> {
    for (const uri of await workspace.findFiles(pattern, ignored, mostFiles)) await this.#read(uri);
  }

  #made(): TestController {
    if (this.#controller !== undefined) return this.#controller;
    const controller = testing.createTestController("gradus.curriculumTests", "Curriculum Tests");
    controller.createRunProfile("Run", TestRunProfileKind.Run, (request) => this.#run(request), true);
    controller.refreshHandler = () => this.#search();
    return (this.#controller = controller);
  }

  #forget(uri: Uri): void {
    this.#configs.delete(uri.toString());
    this.#controller?.items.delete(uri.toString());
  }

  /** A file without a test that can be told is there as well: running it says what is wrong with it. */
  async #read(uri: Uri): Promise<TestItem> {
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    const text = open?.getText() ?? new TextDecoder().decode(await workspace.fs.readFile(uri));
    const { config, tests } = testsIn(text, uri.fsPath);
    this.#configs.set(uri.toString(), resolve(dirname(uri.fsPath), config));
    const controller = this.#made();
    const known = controller.items.get(uri.toString());
    const name = basename(uri.fsPath).slice(0, -curriculumTestEnding.length);
    const item = known ?? controller.createTestItem(uri.toString(), name, uri);
    item.description = workspace.asRelativePath(uri);
    item.range = new Range(0, 0, 0, 0);
    fill(controller, item, tests);
    if (known === undefined) controller.items.add(item);
    return item;
  }

  async #saved({ uri, fileName }: TextDocument): Promise<void> {
    if (!this.stores.trusted || !setting("rewardsCheckOnSave", true)) return;
    const own = fileName.endsWith(curriculumTestEnding) ? [uri.toString()] : [];
    const about = [...this.#configs].flatMap(([test, config]) => (config === fileName ? [test] : []));
    for (const test of [...own, ...about]) {
      // What is merely saved must not start a daemon.
      if (this.stores.ofFile(uri)?.machine.session === undefined) return;
      await this.#run(new TestRunRequest([await this.#read(Uri.parse(test))]));
    }
  }

  async #ask(uri: Uri): Promise<Tested> {
    const session = await this.stores.session(this.stores.ofFile(uri));
    return session.ask(curriculumTest, { files: [uri.fsPath] });
  }

  /** A file's tests run together: those about the same learner share its simulation. */
  async #run(request: TestRunRequest): Promise<void> {
    const controller = this.#made();
    const wanted = request.include ?? [...controller.items].map(([, item]) => item);
    const files = new Map(wanted.map((item) => [(item.parent ?? item).id, item.parent ?? item]));
    const run = controller.createTestRun(request);
    const isWanted = (item: TestItem): boolean =>
      wanted.includes(item) || (item.parent !== undefined && wanted.includes(item.parent));
    for (const file of files.values()) {
      file.children.forEach((item) => isWanted(item) && run.started(item));
      await this.#ask(file.uri!).then(
        (tested) => settle(run, controller, file, tested, isWanted),
        (error: unknown) => run.errored(file, new TestMessage(messageOf(error))),
      );
    }
    run.end();
  }
}

const childOf = (uri: Uri, line: number): string => `${uri.toString()}#${line}`;

/** An item keeps its result as long as it is the same. */
function fill(controller: TestController, file: TestItem, tests: readonly ListedTest[]): void {
  const uri = file.uri!;
  file.children.replace(
    tests.map(({ line, name }) => {
      const before = file.children.get(childOf(uri, line));
      if (before?.label === name) return before;
      const child = controller.createTestItem(childOf(uri, line), name, uri);
      child.range = new Range(line, 0, line, 0);
      return child;
    }),
  );
}

/** Each failure is at its expectation's line. */
function settle(
  run: TestRun,
  controller: TestController,
  file: TestItem,
  { outcomes, broken }: Tested,
  isWanted: (item: TestItem) => boolean,
): void {
  const uri = file.uri!;
  const at = (message: string, line: number, character: number): TestMessage => {
    const said = new TestMessage(message);
    said.location = new Location(uri, new Position(line, character));
    return said;
  };
  // What has read the file knows its tests better than its lines tell.
  if (outcomes.length > 0) fill(controller, file, outcomes);
  for (const { line, failures } of outcomes) {
    const item = file.children.get(childOf(uri, line));
    if (item === undefined || !isWanted(item)) continue;
    const messages = failures.map((one) => at(one.message, one.line, one.character));
    if (messages.length === 0) run.passed(item);
    else run.failed(item, messages);
  }
  for (const { message, line, character } of broken) run.errored(file, at(message, line, character));
}
