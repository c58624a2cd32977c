/**
 * What the editor loads: small, and silent until there is something of ours in the workspace. Files by name, a document
 * or a file of the folder whose content starts a known trainer, a command of ours or a look at our view wake the rest
 * (`extension.ts`, a bundle of its own). Until then there is no daemon, no language server and no status item.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  EventEmitter,
  commands as editor,
  window,
  workspace,
  type Disposable,
  type ExtensionContext,
  type TextDocument,
  type TreeDataProvider,
} from "vscode";
import { commands, language, storePattern, views } from "../../shared/editor/contributions.ts";
import { trainerIn, trainerLanguages } from "../../shared/editor/trainers.ts";
import { trainers } from "../../shared/run/trainers.ts";
import type * as Whole from "../extension.ts";
import type * as Look from "./look.ts";
import { findConfigs } from "../features/configs/find.ts";
import { localPaths } from "../vscode/folders.ts";
import { setContext } from "../vscode/context.ts";

export type Api = Whole.Api;

/** The rest of the extension, from its own bundle (esbuild.mjs): loading it takes longer than looking at a file. */
const load = (): Promise<typeof Whole> => import("./workbench.js");
/** A bundle of its own, too: of windows that are woken by a name it is not needed. */
const loadLook = (): Promise<typeof Look> => import("./look.js");

class Sleeper {
  #whole: Promise<Api> | undefined;
  #listening: Disposable[] = [];

  constructor(private readonly context: ExtensionContext) {}

  /** Loads the rest, once. */
  wake(): Promise<Api> {
    this.#whole ??= this.#start();
    return this.#whole;
  }

  listen(): void {
    const watchers = [language.pattern, storePattern].map((pattern) =>
      workspace.createFileSystemWatcher(pattern, false, true, true),
    );
    // Also of an extension that is awake: a file that is opened later may be the first that starts a trainer.
    this.context.subscriptions.push(
      workspace.onDidOpenTextDocument((document) => this.look(document)),
      workspace.onDidSaveTextDocument((document) => this.look(document)),
    );
    this.#listening = [
      ...watchers.flatMap((watcher) => [watcher, watcher.onDidCreate(() => void this.wake())]),
      ...Object.values(commands).map((id) =>
        editor.registerCommand(id, async (...words: unknown[]) => {
          await this.wake();
          return editor.executeCommand(id, ...words);
        }),
      ),
      ...[views.runs, views.configs].map((id) => window.registerTreeDataProvider(id, this.#viewer())),
    ];
  }

  look(document: TextDocument): void {
    if (isOurs(document)) void this.wake();
  }

  async #start(): Promise<Api> {
    // A view gives its name back only once the editor has answered: before that it would take the next one's along.
    await Promise.all(this.#listening.map((one): unknown => one.dispose()));
    this.#listening = [];
    return (await load()).activate(this.context);
  }

  /** A person who opens the view wants what is in it. */
  #viewer(): TreeDataProvider<never> {
    return {
      onDidChangeTreeData: new EventEmitter<undefined>().event,
      getTreeItem: (item) => item,
      getChildren: () => {
        void this.wake();
        return [];
      },
    };
  }
}

const isOurs = (document: TextDocument): boolean =>
  document.languageId === language.id || startsTrainer(document);

function startsTrainer(document: TextDocument): boolean {
  if (!trainerLanguages.includes(document.languageId)) return false;
  const trainer = trainerIn(document.getText(), document.languageId);
  if (trainer === undefined) return false;
  void setContext("trainer", trainers[trainer].name);
  return true;
}

const hasStore = (): boolean => localPaths().some((folder) => existsSync(join(folder, ".gradus")));

const hasConfig = async (): Promise<boolean> => (await findConfigs(1)).length > 0;

/** What is there by content: a launch of another trainer, which may be called anything. */
async function hasLaunch(): Promise<boolean> {
  const { firstLaunch } = await loadLook();
  for (const folder of localPaths()) if ((await firstLaunch(folder)) !== undefined) return true;
  return false;
}

export async function activate(context: ExtensionContext): Promise<Api | undefined> {
  const sleeper = new Sleeper(context);
  sleeper.listen();
  // All of them: each may say which trainer it starts.
  const ours = workspace.textDocuments.filter(isOurs).length > 0;
  if (ours || hasStore()) return sleeper.wake();
  const found = await Promise.all([hasConfig(), hasLaunch()]);
  return found.includes(true) ? sleeper.wake() : undefined;
}

export function deactivate(): void {
  // Disposables close the connection; the daemon and its runs continue.
}
