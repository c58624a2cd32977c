/** One rollout as a read-only document: what it earned, its prompt folded, its response; and next to one of its group. */
import {
  CodeLens,
  EventEmitter,
  Range,
  commands as editor,
  window,
  type Disposable,
  type DocumentLink,
  type TextDocument,
  type TextDocumentContentProvider,
  type Uri,
} from "vscode";
import { commands, schemes } from "../../../../shared/editor/contributions.ts";
import { UserError } from "../../../../shared/lib/errors.ts";
import { groupsQuery, rolloutsQuery } from "../../../../shared/protocol/protocol.ts";
import type { RolloutRow } from "../../../../shared/rollouts/rollouts.ts";
import { Nothing, register } from "../../../vscode/commands.ts";
import type { Stores } from "../../connection/stores.ts";
import { inGroup, rolloutIn, rolloutOf, rolloutUri, type RolloutAddress } from "../address.ts";
import { columnBesidePanel, commandLink } from "../provider.ts";
import { Surface } from "../surface.ts";
import { oneDocument, type OneDocument } from "./document.ts";
import { siblingItems } from "./siblings.ts";

const mostSiblings = 256;

export interface Shown extends OneDocument {
  readonly address: RolloutAddress;
  readonly rollout: RolloutRow;
  readonly siblings: readonly RolloutRow[];
}

export class RolloutDocuments implements TextDocumentContentProvider, Disposable {
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #surface: Surface<Shown>;
  readonly #disposables: Disposable[];

  constructor(
    private readonly stores: Stores,
    /** The rollout that the cursor is in, where a list of them is open. */
    private readonly listed: () => RolloutAddress | undefined,
  ) {
    this.#surface = new Surface<Shown>(schemes.rollout, {
      content: this,
      lenses: (document) => this.#lenses(document),
      links: (document) => this.#links(document),
    });
    this.#disposables = [
      this.#surface,
      register("rolloutOpen", (word) => this.#open(word)),
      register("rolloutDiff", (word, index) => this.#diff(word, index)),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  /** What an open document shows. */
  of(document: { readonly uri: Uri }): Shown | undefined {
    return this.#surface.of(document);
  }

  /** The rollout that is named, open, or at the cursor of a list. @throws UserError where there is none */
  async named(
    word: unknown,
  ): Promise<RolloutAddress & { readonly rollout: RolloutRow; readonly siblings: readonly RolloutRow[] }> {
    const address = rolloutIn(word) ?? rolloutIn(window.activeTextEditor?.document.uri) ?? this.listed();
    if (address === undefined)
      throw new UserError("No rollout is open.", {
        action: "Open one, or put the cursor into one of a step's rollouts (Gradus: Open Rollouts).",
      });
    const { rollout, siblings } = await this.#ask(address);
    return { ...address, rollout, siblings };
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const address = rolloutOf(uri);
    const { siblings, rollout, group } = await this.#ask(address);
    const document = oneDocument({ name: this.stores.nameOf(address.run), rollout, group, siblings });
    this.#surface.set(uri, { ...document, address, rollout, siblings });
    return document.text;
  }

  #uri(address: RolloutAddress): Uri {
    return rolloutUri(address, this.stores.nameOf(address.run));
  }

  async #ask({ run, step, group, index }: RolloutAddress) {
    const session = await this.stores.connectedFor(run);
    const [{ groups }, { rollouts }] = await Promise.all([
      session.ask(groupsQuery, { run, step }),
      session.ask(rolloutsQuery, { run, step, where: inGroup(group), limit: mostSiblings }),
    ]);
    const rollout = rollouts.find((one) => one.index === index);
    if (rollout === undefined)
      throw new Nothing(
        `Step ${step} of this run has no rollout ${index} in group ${group}.`,
        "Open the step's rollouts: Gradus: Open Rollouts.",
      );
    return {
      rollout,
      siblings: rollouts.toSorted((a, b) => a.index - b.index),
      group: groups.find((one) => one.group === group),
    };
  }

  /** The one that is named, else the one at the cursor. */
  async #open(word: unknown): Promise<void> {
    const address = rolloutIn(word) ?? this.listed();
    if (address === undefined)
      throw new Nothing(
        "The cursor is in no rollout.",
        "Put it into one of a step's rollouts (Gradus: Open Rollouts).",
      );
    await window.showTextDocument(this.#uri(address), { preview: true, viewColumn: columnBesidePanel() });
  }

  /** @param index of the other; without one it is asked for */
  async #diff(word: unknown, index: unknown): Promise<void> {
    const address = rolloutIn(word) ?? rolloutIn(window.activeTextEditor?.document.uri);
    if (address === undefined)
      throw new Nothing("No rollout is open.", "Open one first: click its number in a step's rollouts.");
    const other = typeof index === "number" ? index : await this.#pickSibling(address);
    if (other === undefined) return;
    await editor.executeCommand(
      "vscode.diff",
      this.#uri(address),
      this.#uri({ ...address, index: other }),
      `${this.stores.nameOf(address.run)} · step ${address.step} · rollouts ${address.index} ↔ ${other}`,
      { preview: true },
    );
  }

  async #pickSibling(address: RolloutAddress): Promise<number | undefined> {
    const { siblings } = await this.#ask(address);
    const items = siblingItems(siblings, address.index);
    if (items.length === 0)
      throw new Nothing("This rollout is alone in its group.", "Open one of a larger group.");
    const title = `Diff Rollout ${address.index} With`;
    return (await window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true }))
      ?.index;
  }

  #links(document: TextDocument): DocumentLink[] {
    const shown = this.of(document);
    return (shown?.links ?? []).map(({ line, from, to, index }) =>
      commandLink(
        new Range(line, from, line, to),
        commands.rolloutOpen,
        { ...shown!.address, index },
        `Open rollout ${index}`,
      ),
    );
  }

  #lenses(document: TextDocument): CodeLens[] {
    const shown = this.of(document);
    if (shown === undefined) return [];
    const { address, siblings } = shown;
    const { run, step, index } = address;
    const top = new Range(0, 0, 0, 0);
    const at = siblings.findIndex((one) => one.index === index);
    const [before, after] = [siblings[at - 1], siblings[at + 1]];
    const lens = (title: string, command: string, ...words: readonly unknown[]): CodeLens =>
      new CodeLens(top, { title, command, arguments: [...words] });
    const to = (title: string, sibling: RolloutRow | undefined): CodeLens[] =>
      sibling === undefined ? [] : [lens(title, commands.rolloutOpen, { ...address, index: sibling.index })];
    return [
      ...to(`$(arrow-left) Rollout ${before?.index}`, before),
      ...to(`Rollout ${after?.index} $(arrow-right)`, after),
      ...(siblings.length > 1 ? [lens("$(diff) Diff with Sibling…", commands.rolloutDiff, address)] : []),
      lens("$(history) Follow This Task", commands.taskFollow, address),
      lens("$(pin) Pin as Test…", commands.rolloutPin, address),
      lens("All of the Step", commands.rolloutsOpen, run, step, ""),
    ];
  }
}
