/** Rollouts of a step as a read-only document, with lenses to the steps around it. */
import {
  CodeLens,
  DocumentLink,
  EventEmitter,
  Range,
  TabInputWebview,
  Uri,
  ViewColumn,
  window,
  type Disposable,
  type Hover,
  type Position,
  type TextDocument,
  type TextDocumentContentProvider,
} from "vscode";
import { commands, schemes } from "../../../shared/editor/contributions.ts";
import { groupsQuery, rolloutsQuery } from "../../../shared/protocol/protocol.ts";
import { register } from "../../vscode/commands.ts";
import type { Stores } from "../connection/stores.ts";
import { pickRun } from "../runs/pick.ts";
import { stepOf, stepUri, type RolloutAddress } from "./address.ts";
import { rolloutDocument, type RolloutDocument, type RolloutLines } from "./document.ts";
import { Surface } from "./surface.ts";
import type { WhyHovers } from "./whyHover.ts";

/** More than this in one step is for the command line. */
const most = 2_000;

/** Not over the panel that a click came from: chart and rollouts are read side by side. */
export function columnBesidePanel(): ViewColumn {
  const { all, activeTabGroup } = window.tabGroups;
  if (!(activeTabGroup.activeTab?.input instanceof TabInputWebview)) return ViewColumn.Active;
  return all.find((group) => group !== activeTabGroup)?.viewColumn ?? ViewColumn.Beside;
}

/** A link that runs a command of ours. */
export const commandLink = (range: Range, command: string, word: unknown, tooltip: string): DocumentLink => {
  const link = new DocumentLink(
    range,
    Uri.parse(`command:${command}?${encodeURIComponent(JSON.stringify([word]))}`),
  );
  link.tooltip = tooltip;
  return link;
};

export class Rollouts implements TextDocumentContentProvider, Disposable {
  readonly #changed = new EventEmitter<Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #surface: Surface<RolloutDocument>;
  readonly #disposables: Disposable[];

  constructor(
    private readonly stores: Stores,
    private readonly hovers: WhyHovers,
  ) {
    this.#surface = new Surface<RolloutDocument>(schemes.rollouts, {
      content: this,
      lenses: (document) => this.#lenses(document),
      links: (document) => this.#links(document),
      hover: (document, position) => this.#hover(document, position),
    });
    this.#disposables = [
      this.#surface,
      register("rolloutsOpen", (run, step, where) => this.#open(run, step, where)),
    ];
  }

  dispose(): void {
    for (const disposable of this.#disposables) disposable.dispose();
  }

  /** The rollout that the cursor is in. */
  get current(): RolloutAddress | undefined {
    const active = window.activeTextEditor;
    if (active?.document.uri.scheme !== schemes.rollouts) return undefined;
    const found = this.#at(active.document, active.selection.active.line);
    if (found === undefined) return undefined;
    const { step, group, index } = found;
    return { run: stepOf(active.document.uri).run, step, group, index };
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const { run, step, where } = stepOf(uri);
    const session = await this.stores.connectedFor(run);
    const [{ groups }, { rollouts, total }] = await Promise.all([
      session.ask(groupsQuery, { run, step }),
      session.ask(rolloutsQuery, { run, step, limit: most, ...(where === "" ? {} : { where }) }),
    ]);
    const name = this.stores.nameOf(run);
    const document = rolloutDocument({ name, step, groups, rollouts, total, where });
    this.#surface.set(uri, document);
    return document.text;
  }

  /** The step that was asked for; without one, the run's last. */
  async #open(word: unknown, step: unknown, where: unknown): Promise<void> {
    const run = await pickRun(this.stores, word, "Open Rollouts");
    if (run === undefined) return;
    const node = typeof word === "object" && word !== null && "step" in word ? word.step : undefined;
    const wanted = typeof step === "number" ? step : typeof node === "number" ? node : Math.max(0, run.step);
    const address = { run: run.id, step: wanted, where: typeof where === "string" ? where : "" };
    await window.showTextDocument(stepUri(address, run.name), {
      preview: true,
      viewColumn: columnBesidePanel(),
    });
  }

  #links(document: TextDocument): DocumentLink[] {
    const { run } = stepOf(document.uri);
    return (this.#surface.of(document)?.rollouts ?? []).map(({ from, at, step, group, index }) =>
      commandLink(
        new Range(from, at[0], from, at[1]),
        commands.rolloutOpen,
        { run, step, group, index },
        `Open rollout ${index}`,
      ),
    );
  }

  #hover(document: TextDocument, { line }: Position): Promise<Hover> | undefined {
    const found = this.#at(document, line);
    if (found === undefined) return undefined;
    const { step, group, index, from, to } = found;
    const range = new Range(from, 0, to, document.lineAt(to).text.length);
    return this.hovers.hover({ run: stepOf(document.uri).run, step, group, index }, range);
  }

  #at(document: TextDocument, line: number): RolloutLines | undefined {
    return this.#surface.of(document)?.rollouts.find(({ from, to }) => from <= line && line <= to);
  }

  #lenses(document: TextDocument): CodeLens[] {
    const { run, step, where } = stepOf(document.uri);
    const last = this.stores.ofRun(run)?.runs.find(run)?.step ?? step;
    const top = new Range(0, 0, 0, 0);
    const to = (title: string, target: number, condition = where): CodeLens =>
      new CodeLens(top, { title, command: commands.rolloutsOpen, arguments: [run, target, condition] });
    return [
      ...(where === "" ? [] : [to("All of the Step", step, "")]),
      ...(step > 0 ? [to(`$(arrow-left) Step ${step - 1}`, step - 1)] : []),
      ...(step < last ? [to(`Step ${step + 1} $(arrow-right)`, step + 1)] : []),
      new CodeLens(top, { title: "$(graph-line) Open Run", command: commands.runOpen, arguments: [run] }),
    ];
  }
}
