/** Stands in for the person at the window: answers what a command asks, and keeps what it says. */
import * as vscode from "vscode";
import { until } from "./support.ts";

type Window = { -readonly [Name in keyof typeof vscode.window]: unknown };

/** What a person answers; what is not named is dismissed. */
export interface Answers {
  /** Of a message: the button to press. Modal questions get their first one. */
  readonly button?: string;
  /** Of a list: the labels to look for, the first that there is; its first item otherwise. */
  readonly pick?: string | readonly string[];
  readonly file?: vscode.Uri;
}

const messages = ["showErrorMessage", "showWarningMessage", "showInformationMessage"] as const;
const asked = ["showQuickPick", "showInputBox", "showOpenDialog", "showSaveDialog"] as const;

export class Person {
  /** Error messages and rejected commands. */
  readonly errors: string[] = [];
  readonly said: string[] = [];
  /** Programs and their words for terminals, which none is opened for. */
  readonly started: (readonly string[])[] = [];
  answers: Answers = {};
  readonly #own: Window = vscode.window;
  readonly #before = new Map([...messages, ...asked].map((name) => [name, vscode.window[name] as unknown]));

  readonly #task: unknown = vscode.tasks.executeTask;

  sitDown(): void {
    for (const name of messages)
      this.#own[name] = (text: string, ...rest: readonly unknown[]) => this.#read(name, text, rest);
    this.#own.showQuickPick = async (items: unknown, options?: vscode.QuickPickOptions) =>
      this.#choose(await (items as Thenable<readonly unknown[]>), options);
    this.#own.showInputBox = (options?: vscode.InputBoxOptions) => Promise.resolve(options?.value ?? "");
    this.#own.showSaveDialog = () => Promise.resolve(this.answers.file);
    this.#own.showOpenDialog = () => Promise.resolve(this.answers.file && [this.answers.file]);
    (vscode.tasks as { executeTask: unknown }).executeTask = (task: vscode.Task) => {
      const { process, args } = task.execution as vscode.ProcessExecution;
      this.started.push([process, ...args]);
      return Promise.resolve(undefined);
    };
  }

  getUp(): void {
    for (const [name, original] of this.#before) this.#own[name] = original;
    (vscode.tasks as { executeTask: unknown }).executeTask = this.#task;
  }

  /** Runs a command as a click does, and closes boxes that wait for keys. @returns what went wrong */
  async press(command: string, ...words: readonly unknown[]): Promise<readonly string[]> {
    const from = this.errors.length;
    let over = false;
    const running = vscode.commands.executeCommand(command, ...words).then(
      () => void (over = true),
      (error: unknown) => {
        this.errors.push(`rejected: ${String(error)}`);
        over = true;
      },
    );
    await until(async () => {
      if (!over) await vscode.commands.executeCommand("workbench.action.closeQuickOpen");
      return over;
    }, `${command} to end`);
    await running;
    return this.errors.slice(from);
  }

  #read(name: (typeof messages)[number], text: string, rest: readonly unknown[]): Thenable<unknown> {
    (name === "showErrorMessage" ? this.errors : this.said).push(text);
    const modal = rest.some((one) => typeof one === "object" && one !== null && "modal" in one);
    const buttons = rest.filter((one): one is string => typeof one === "string");
    return Promise.resolve(modal ? buttons[0] : buttons.find((one) => one === this.answers.button));
  }

  #choose(items: readonly unknown[], options: vscode.QuickPickOptions | undefined): unknown {
    const label = (item: unknown): string =>
      typeof item === "string" ? item : (item as vscode.QuickPickItem).label;
    const wanted = [this.answers.pick ?? []].flat();
    const found = wanted.flatMap((words) => items.filter((one) => label(one).includes(words)));
    const item = found[0] ?? items[0];
    return options?.canPickMany === true ? (item === undefined ? undefined : [item]) : item;
  }
}
