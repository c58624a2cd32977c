/** Of each folder that holds another trainer's launch, what `gradus check` says of it. Silent where anything is ours. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { languages, workspace, type Disposable, type TextDocument } from "vscode";
import type { FolderSum } from "../../../shared/editor/folderSum.ts";
import { messageOf } from "../../../shared/lib/errors.ts";
import { trainerIn } from "../../../shared/editor/trainers.ts";
import { trainers } from "../../../shared/run/trainers.ts";
import { coalesce } from "../../vscode/coalesce.ts";
import { printed, type CommandLine } from "../../vscode/commandLine.ts";
import { setContext } from "../../vscode/context.ts";
import { localPaths } from "../../vscode/folders.ts";
import { output } from "../../vscode/output.ts";
import { firstLaunch, type Launch } from "../../wake/look.ts";
import { findConfigs } from "../configs/find.ts";
import { Emitter } from "../connection/emitter.ts";
import type { Stores } from "../connection/stores.ts";
import { cardOf, type Card } from "./card.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

/** Milliseconds in which several saved files are one change: an editor may save at each pause. */
const beat = 5_000;
/** Milliseconds: a folder that takes longer gets no card. */
const patience = 60_000;
/** Files whose change may change what is said. */
const told = [{ pattern: "**/*.{sh,bash,slurm,sbatch,yaml,yml,py,ipynb}" }];

export class Cards implements Disposable {
  readonly changed = new Emitter<void>();
  #cards: readonly Card[] = [];
  #looking: Promise<void> | undefined;
  /** Something has changed since the look that is under way began. */
  #again = false;
  readonly #disposables: Disposable[] = [];
  readonly #soon = coalesce<undefined>(beat, () => void this.look());

  constructor(
    private readonly stores: Stores,
    private readonly commandLine: () => CommandLine,
  ) {}

  get all(): readonly Card[] {
    return this.#cards;
  }

  start(): void {
    this.#disposables.push(
      workspace.onDidSaveTextDocument((document) => this.#saved(document)),
      workspace.onDidChangeWorkspaceFolders(() => this.#soon(undefined)),
      // What may be done with it is more.
      workspace.onDidGrantWorkspaceTrust(() => this.changed.fire()),
    );
    this.stores.changed.on(() => {
      if (this.#cards.length > 0 && this.#hasStore()) this.#show([]);
    });
    void this.look();
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  /** One at a time: each is a process. */
  look(): Promise<void> {
    this.#again = this.#looking !== undefined;
    return (this.#looking ??= this.#lookUntilCurrent().finally(() => (this.#looking = undefined)));
  }

  async #lookUntilCurrent(): Promise<void> {
    do {
      this.#again = false;
      const found = (await this.#isOurs()) ? [] : await this.#found();
      // A store may have come meanwhile.
      this.#show(this.#hasStore() ? [] : found);
    } while (this.#again);
  }

  #saved(document: TextDocument): void {
    if (languages.match(told, document) === 0) return;
    const starts = trainerIn(document.getText(), document.languageId) !== undefined;
    if (starts || this.#cards.length > 0) this.#soon(undefined);
  }

  #show(cards: readonly Card[]): void {
    if (JSON.stringify(cards) === JSON.stringify(this.#cards)) return;
    this.#cards = cards;
    this.changed.fire();
  }

  /** Whoever has a config or a store sees both in the views. */
  async #isOurs(): Promise<boolean> {
    return this.#hasStore() || (await findConfigs(1)).length > 0;
  }
  #hasStore(): boolean {
    const own = localPaths().map((folder) => join(folder, ".gradus"));
    return [...own, ...this.stores.all.map(({ path }) => path)].some((path) => existsSync(path));
  }

  async #found(): Promise<readonly Card[]> {
    const cards: Card[] = [];
    for (const folder of localPaths()) {
      // Without it nothing is started in the folder.
      const launch = await firstLaunch(folder);
      const sum = launch === undefined ? undefined : await this.#sumOf(folder, launch);
      const card = sum === undefined ? undefined : cardOf(folder, sum);
      if (card === undefined || launch === undefined) continue;
      await setContext("trainer", trainers[launch.trainer].name);
      cards.push(card);
    }
    return cards;
  }

  /** Of the launch alone where the folder is too large. */
  async #sumOf(folder: string, { file }: Launch): Promise<FolderSum | undefined> {
    for (const word of [".", relativePath(folder, file)])
      try {
        // It runs nothing of the folder: docs/trust.md.
        const ways = { cwd: folder, timeout: patience };
        const sum: FolderSum = JSON.parse(await printed(this.commandLine(), ["check", word, "--json"], ways));
        return sum;
      } catch (error) {
        output().info(`checking ${join(folder, word)}: ${messageOf(error)}`);
      }
    return undefined;
  }
}
