/** What the manifest offers in this window, pressed by a person; what went wrong, and what was never pressed. */
import * as assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import type { Api } from "../../extension/extension.ts";
import { holds, nameOf, offersOf, type Context, type Contributes, type Offer } from "../support/offers.ts";
import { Person } from "./person.ts";
import { activated, config, id, ready, stopEverything } from "./support.ts";
import { Stage } from "./stage.ts";

/** What cannot be pressed here, and why. */
const elsewhere: Readonly<Record<string, string>> = {
  "gradus.engine.setUp": "it would build the checkout that is tested",
  "gradus.reward.attack": "it takes a minute; the suite `project` starts a shorter one from its line",
};
/** Windows and daemons that this one is not: their links are commands that the palette has as well, or the suite `trainer`. */
const otherWindow =
  /workspaceFolderCount == 0|!isWorkspaceTrusted|daemonState (== (failed|nodePath|setUp|disconnected)|=~ \/\^\(starting)|!gradus\.hasConfigs|gradus\.trainer/;

export class Offering {
  readonly person = new Person();
  readonly #pressed = new Set<string>();
  #wrong: string[] = [];

  private constructor(
    readonly api: Api,
    readonly stage: Stage,
    readonly folder: string,
    private readonly offers: readonly Offer[],
  ) {}

  static async open(): Promise<Offering> {
    const api = await activated();
    await ready(api);
    const tiny = await config("tiny.gradus.yaml");
    const { extensionPath, packageJSON } = vscode.extensions.getExtension(id)!;
    const { contributes } = packageJSON as { contributes: Contributes };
    const words = readFileSync(join(extensionPath, "package.nls.json"), "utf8");
    const offers = offersOf(contributes, JSON.parse(words) as Record<string, string>);
    // What a run comes to is no answer to a command.
    const notices = vscode.workspace.getConfiguration("gradus.notifications");
    for (const name of ["runEnded", "alarm"]) await notices.update(name, false);
    const offering = new Offering(api, new Stage(api, tiny), vscode.Uri.joinPath(tiny, "..").fsPath, offers);
    offering.person.answers = { pick: "short" };
    offering.person.sitDown();
    return offering;
  }

  async close(): Promise<void> {
    this.person.getUp();
    await stopEverything(this.api);
  }

  /** What the editor knows anywhere in this window. */
  around(): Context {
    return {
      isWorkspaceTrusted: true,
      workspaceFolderCount: 1,
      "gradus.daemonState": this.api.stores.state,
      "gradus.hasConfigs": true,
      "gradus.hasRuns": this.api.stores.runs.length > 0,
    };
  }

  offered(places: readonly string[], context: Context): readonly Offer[] {
    return this.offers.filter(
      ({ place, command, when }) => places.includes(place) && !(command in elsewhere) && holds(when, context),
    );
  }

  async press(offer: Offer, where: string, ...words: readonly unknown[]): Promise<void> {
    this.#pressed.add(nameOf(offer));
    // It writes no file twice.
    if (offer.command === "gradus.config.create")
      for (const made of ["countdown.gradus.yaml", "rewards"])
        rmSync(join(this.folder, made), { recursive: true, force: true });
    await this.pressCommand({ ...offer, title: offer.place, arguments: [...words] }, where);
    if (!/daemon|refresh/.test(offer.command)) return;
    // Whoever stops the daemon starts it again.
    for (const { machine } of this.api.stores.all)
      if (machine.state.state === "disconnected") await machine.start();
    await ready(this.api);
  }

  async pressCommand(
    { command, title, arguments: words = [] }: vscode.Command,
    where: string,
  ): Promise<void> {
    for (const error of await this.person.press(command, ...(words as unknown[])))
      this.#wrong.push(`${where}, ${title}: ${command}: ${error}`);
    // A config without a file would ask about its changes at the end.
    if (vscode.window.activeTextEditor?.document.isUntitled === true)
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
  }

  /** The same command in the same place by another way. */
  pressedToo(offers: readonly Offer[]): void {
    for (const offer of offers) this.#pressed.add(nameOf(offer));
  }
  hasPressed(offer: Offer): boolean {
    return this.#pressed.has(nameOf(offer));
  }

  /** @throws AssertionError with what went wrong since the last time */
  check(): void {
    const found = this.#wrong;
    this.#wrong = [];
    assert.deepEqual(found, []);
  }

  /** Offers of these places that nothing has pressed. */
  left(places: readonly string[]): readonly string[] {
    return this.offers
      .filter(({ place, command, when }) => {
        const hidden = place === "palette" && when.startsWith("false");
        return places.includes(place) && !hidden && !(command in elsewhere) && !otherWindow.test(when);
      })
      .filter((offer) => !this.hasPressed(offer))
      .map(nameOf);
  }
}
