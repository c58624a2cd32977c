/** Tests of curricula in the Test Explorer: `*.curriculum.test.yaml`, run by hand and on each save of one or of its config. */
import { dirname, resolve } from "node:path";
import {
  Location,
  Position,
  TestMessage,
  TestRunRequest,
  Uri,
  workspace,
  type Disposable,
  type TestItem,
  type TestRun,
  type TextDocument,
} from "vscode";
import { curriculumTest, type ResultOf } from "../../../shared/protocol/protocol.ts";
import { curriculumTestEnding } from "../../../shared/run/curriculumTests.ts";
import { setting } from "../../vscode/settings.ts";
import type { Stores } from "../connection/stores.ts";
import { TestFiles, type ListedTest } from "../testFiles/testFiles.ts";
import { testsIn } from "./model.ts";

type Tested = ResultOf<typeof curriculumTest>;

export class CurriculumTests implements Disposable {
  readonly #files: TestFiles;
  /** The config that each file is about, by the file's URI. */
  readonly #configs = new Map<string, string>();
  readonly #saves: Disposable;

  constructor(private readonly stores: Stores) {
    this.#files = new TestFiles({
      id: "gradus.curriculumTests",
      title: "Curriculum Tests",
      ending: curriculumTestEnding,
      list: (text, uri) => this.#list(text, uri),
      removed: (uri) => this.#configs.delete(uri.toString()),
      run: async (file, run, isWanted) => this.#settle(run, file, await this.#ask(file.uri!), isWanted),
    });
    this.#saves = workspace.onDidSaveTextDocument((document) => void this.#saved(document));
  }

  dispose(): void {
    this.#saves.dispose();
    this.#files.dispose();
  }

  /** A file without a test that can be told is there as well: running it says what is wrong with it. */
  #list(text: string, uri: Uri): readonly ListedTest[] {
    const { config, tests } = testsIn(text, uri.fsPath);
    this.#configs.set(uri.toString(), resolve(dirname(uri.fsPath), config));
    return tests.map(({ line, name }) => ({ line, label: name }));
  }

  async #saved({ uri, fileName }: TextDocument): Promise<void> {
    if (!this.stores.trusted || !setting("rewardsCheckOnSave", true)) return;
    const own = fileName.endsWith(curriculumTestEnding) ? [uri.toString()] : [];
    const about = [...this.#configs].flatMap(([test, config]) => (config === fileName ? [test] : []));
    for (const test of [...own, ...about]) {
      // What is merely saved must not start a daemon.
      if (this.stores.ofFile(uri)?.machine.session === undefined) return;
      const item = await this.#files.read(Uri.parse(test));
      if (item !== undefined) await this.#files.run(new TestRunRequest([item]));
    }
  }

  async #ask(uri: Uri): Promise<Tested> {
    const session = await this.stores.session(this.stores.ofFile(uri));
    return session.ask(curriculumTest, { files: [uri.fsPath] });
  }

  #settle(
    run: TestRun,
    file: TestItem,
    { outcomes, broken }: Tested,
    isWanted: (item: TestItem) => boolean,
  ): void {
    const uri = file.uri!;
    // What has read the file knows its tests better than its lines tell.
    if (outcomes.length > 0)
      this.#files.fill(
        file,
        outcomes.map(({ line, name }) => ({ line, label: name })),
      );
    for (const { line, failures } of outcomes) {
      const item = this.#files.test(uri, line);
      if (item === undefined || !isWanted(item)) continue;
      // Each failure is at its expectation's line.
      const messages = failures.map((one) => failureAt(uri, one));
      if (messages.length === 0) run.passed(item);
      else run.failed(item, messages);
    }
    for (const one of broken) run.errored(file, failureAt(uri, one));
  }
}

interface Failure {
  readonly message: string;
  readonly line: number;
  readonly character: number;
}

function failureAt(uri: Uri, { message, line, character }: Failure): TestMessage {
  const said = new TestMessage(message);
  said.location = new Location(uri, new Position(line, character));
  return said;
}
