/** The test files of one kind in the Test Explorer: found, listed, and run by whom they belong to. */
import { basename } from "node:path";
import {
  Range,
  TestMessage,
  TestRunProfileKind,
  TestRunRequest,
  tests as testing,
  workspace,
  type Disposable,
  type TestController,
  type TestItem,
  type TestRun,
  type Uri,
} from "vscode";
import { messageOf } from "../../../shared/lib/errors.ts";

const ignored = "**/{node_modules,.git,.gradus}/**";
const mostFiles = 500;

export interface ListedTest {
  /** 0-based. */
  readonly line: number;
  readonly label: string;
  readonly description?: string;
}

export interface TestKind {
  /** Of the controller. */
  readonly id: string;
  readonly title: string;
  /** What the names of its files end with. */
  readonly ending: string;
  /** @returns undefined: the file is not listed */
  list(text: string, uri: Uri): readonly ListedTest[] | undefined;
  removed?(uri: Uri): void;
  /** Runs a file's tests together, and tells `run` how each that is wanted ended. */
  run(file: TestItem, run: TestRun, isWanted: (item: TestItem) => boolean): Promise<void>;
}

const childOf = (uri: Uri, line: number): string => `${uri.toString()}#${line}`;

export class TestFiles implements Disposable {
  /** Made when there is a first file: a workspace without one has no Test Explorer of ours. */
  #controller: TestController | undefined;
  readonly #disposables: Disposable[];

  constructor(private readonly kind: TestKind) {
    const watcher = workspace.createFileSystemWatcher(this.#pattern);
    this.#disposables = [
      watcher,
      watcher.onDidCreate((uri) => void this.read(uri)),
      watcher.onDidChange((uri) => void this.read(uri)),
      watcher.onDidDelete((uri) => this.#remove(uri)),
    ];
    void this.#search();
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
    this.#controller?.dispose();
  }

  get isEmpty(): boolean {
    return this.#controller === undefined;
  }

  get #pattern(): string {
    return `**/*${this.kind.ending}`;
  }

  file(uri: Uri): TestItem | undefined {
    return this.#controller?.items.get(uri.toString());
  }

  test(uri: Uri, line: number): TestItem | undefined {
    return this.file(uri)?.children.get(childOf(uri, line));
  }

  /** Lists a file as it stands in its editor, else on disk. @returns undefined: it is not listed */
  async read(uri: Uri): Promise<TestItem | undefined> {
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    const text = open?.getText() ?? new TextDecoder().decode(await workspace.fs.readFile(uri));
    const listed = this.kind.list(text, uri);
    if (listed === undefined) {
      this.#remove(uri);
      return undefined;
    }
    const controller = this.#made();
    const known = controller.items.get(uri.toString());
    const name = basename(uri.fsPath).slice(0, -this.kind.ending.length);
    const item = known ?? controller.createTestItem(uri.toString(), name, uri);
    item.description = workspace.asRelativePath(uri);
    item.range = new Range(0, 0, 0, 0);
    this.fill(item, listed);
    if (known === undefined) controller.items.add(item);
    return item;
  }

  /** A test keeps its result as long as its label is the same. */
  fill(file: TestItem, listed: readonly ListedTest[]): void {
    const [controller, uri] = [this.#made(), file.uri!];
    file.children.replace(
      listed.map(({ line, label, description }) => {
        const before = file.children.get(childOf(uri, line));
        if (before?.label === label) return before;
        const child = controller.createTestItem(childOf(uri, line), label, uri);
        if (description !== undefined) child.description = description;
        child.range = new Range(line, 0, line, 0);
        return child;
      }),
    );
  }

  async run(request: TestRunRequest): Promise<void> {
    const controller = this.#made();
    const wanted = request.include ?? [...controller.items].map(([, item]) => item);
    const files = new Map(wanted.map((item) => [(item.parent ?? item).id, item.parent ?? item]));
    const run = controller.createTestRun(request);
    const isWanted = (item: TestItem): boolean =>
      wanted.includes(item) || (item.parent !== undefined && wanted.includes(item.parent));
    for (const file of files.values()) {
      file.children.forEach((item) => isWanted(item) && run.started(item));
      await this.kind
        .run(file, run, isWanted)
        .catch((error: unknown) => run.errored(file, new TestMessage(messageOf(error))));
    }
    run.end();
  }

  /** Results that no one asked the Test Explorer for. */
  publish(name: string, settle: (run: TestRun) => void): void {
    const run = this.#controller?.createTestRun(new TestRunRequest(), name, false);
    if (run === undefined) return;
    settle(run);
    run.end();
  }

  #remove(uri: Uri): void {
    this.#controller?.items.delete(uri.toString());
    this.kind.removed?.(uri);
  }

  async #search(): Promise<void> {
    for (const uri of await workspace.findFiles(this.#pattern, ignored, mostFiles)) await this.read(uri);
  }

  #made(): TestController {
    if (this.#controller !== undefined) return this.#controller;
    const controller = testing.createTestController(this.kind.id, this.kind.title);
    controller.createRunProfile("Run", TestRunProfileKind.Run, (request) => this.run(request), true);
    controller.refreshHandler = () => this.#search();
    return (this.#controller = controller);
  }
}
